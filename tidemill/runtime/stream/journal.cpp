#include "tidemill/runtime/stream/journal.hpp"

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/machine/own_thread.hpp"
#include "tidemill/machine/start_thread.hpp"
#include "tidemill/runtime/graph/identity.hpp"
#include "tidemill/runtime/stream/knob_record.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

namespace {

std::unique_ptr<std::ostream> opened(const std::filesystem::path& path) {
    errno = 0;
    auto file = std::make_unique<std::ofstream>(path, std::ios::binary | std::ios::trunc);
    if (!*file)
        throw JournalNotWritten(
            fmt::format("{}: cannot open for writing: {}", path.string(), std::strerror(errno)));
    return file;
}

// A disk that is that far behind is not waited for: the journal stays without its end.
constexpr std::size_t kMostWaiting = std::size_t{1} << 20;

}  // namespace

/// Writes lines in their order, by a thread that flushes whenever there are no more.
class Journal::Writer {
  public:
    explicit Writer(std::ostream& to)
        : to_(to), thread_(start_thread([this](const std::stop_token& done) { run(done); })) {}

    /// From any thread; waits for no writer.
    void add(const Json& line) {
        const std::lock_guard lock(mutex_);
        lost_ = lost_ || lines_.size() == kMostWaiting ||
                internal::thrown_by([&] { lines_.push_back(to_text(line)); });
        changed_.notify_all();
    }

    /// Waits until there are no more; whether all were written.
    bool can_be_waited_for() const { return thread_.can_be_waited_for(); }
    bool finish() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return lines_.empty() && !writes_; });
        return !lost_ && to_.good();
    }

  private:
    void run(const std::stop_token& done) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, done, [&] { return !lines_.empty(); })) {
            const std::vector<std::string> lines = std::exchange(lines_, {});
            writes_ = true;
            lock.unlock();
            // The stream may be a user's, and throw.
            const auto failure = internal::thrown_by([&] {
                for (const std::string& line : lines) to_ << line << '\n';
                to_.flush();
            });
            lock.lock();
            lost_ = lost_ || failure;
            writes_ = false;
            changed_.notify_all();
        }
    }

    std::ostream& to_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<std::string> lines_;
    bool writes_ = false;
    bool lost_ = false;
    OwnThread thread_;
};

Journal::Journal(const std::filesystem::path& path)
    : name_(path.string()), file_(opened(path)), writer_(std::make_unique<Writer>(*file_)) {}

Journal::Journal(std::ostream& to) : name_("the journal"), writer_(std::make_unique<Writer>(to)) {}

Journal::~Journal() {
    if (!writer_->can_be_waited_for()) writer_.release();  // nor what its thread looks at
}

void Journal::begin(const Graph& graph, std::uint64_t first_frame) {
    if (next_frame_ && first_frame < *next_frame_)
        throw RunError(fmt::format("{} holds a run already: give each run() a journal of its own", name_));
    if (!next_frame_)
        writer_->add({{"tidemill_journal", 1}, {"graph", identity_of(graph)}, {"frame", first_frame}});
    next_frame_ = first_frame;
}

void Journal::set(const KnobSettings& settings, std::uint64_t frame) {
    writer_->add({{"frame", frame}, {"set", values_json(record_of(settings))}});
}

void Journal::dropped(std::uint64_t frame, std::uint64_t frames) {
    writer_->add({{"frame", frame}, {"dropped", frames}});
}

void Journal::end(std::optional<std::uint64_t> frame, bool finished) {
    Json line{{"end", frame ? Json(*frame) : Json("by a task")}};
    if (finished) line["finished"] = true;
    writer_->add(line);
    next_frame_ = frame.value_or(~std::uint64_t{0});
    if (!writer_->finish()) throw JournalNotWritten(fmt::format("{}: not all could be written", name_));
}

}  // namespace tidemill

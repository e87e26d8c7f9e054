#include "tidemill/apps/outputs/loss_recorder.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "tidemill/apps/outputs/iq_file.hpp"
#include "tidemill/apps/outputs/queued_output.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/error.hpp"
#include "tidemill/io/files/number_text.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLossName = "loss.";
constexpr double kMostLossMemory = 512e6;
constexpr std::size_t kLossPieceBytes = 1 << 16;
constexpr std::uint64_t kLossMetaBytes = 4096;  // at most, of what describes the samples

std::string utc_text(const char* format, double seconds_ago = 0) {
    return fmt::format(fmt::runtime(format),
                       fmt::gmtime(std::time(nullptr) - static_cast<std::time_t>(seconds_ago)));
}

// A name that this program gives, and nobody else by chance.
bool is_kept_name(const std::string& name) {
    const std::string begin = kLossName;
    if (!name.starts_with(begin)) return false;
    const std::string rest = name.substr(begin.size());
    const auto dot = rest.find('.');
    return dot >= 16 && dot != std::string::npos &&
           rest.substr(0, dot).find_first_not_of("0123456789TZ-") == std::string::npos &&
           (rest.substr(dot) == ".sigmf-data" || rest.substr(dot) == ".sigmf-meta");
}

// Both files of each recording in the folder: their bytes by what both begin with, the oldest first.
std::map<std::string, std::uint64_t> kept_in(const fs::path& folder) {
    std::map<std::string, std::uint64_t> kept;
    std::error_code none;
    for (const auto& file : fs::directory_iterator(folder, none)) {
        const fs::path name = file.path().filename();
        if (is_kept_name(name.string()) && file.is_regular_file(none))
            kept[name.stem().string()] += file.file_size(none);
    }
    return kept;
}

// A path that no file has yet.
fs::path free_path(const fs::path& folder) {
    const std::string date = utc_text("{:%Y%m%dT%H%M%SZ}");
    std::error_code none;
    for (int number = 1;; ++number) {
        const std::string name = number == 1 ? fmt::format("{}{}", kLossName, date)
                                             : fmt::format("{}{}-{}", kLossName, date, number);
        const fs::path path = folder / name;
        if (!fs::exists(path.string() + ".sigmf-data", none) &&
            !fs::exists(path.string() + ".sigmf-meta", none))
            return path.string() + ".sigmf-meta";
    }
}

}  // namespace

std::uint64_t parse_keep_limit(const std::string& text) {
    constexpr double kLeast = 1e4, kMost = 1e15;
    const auto bytes = text.ends_with('B') ? io::real_number(text.substr(0, text.size() - 1)) : std::nullopt;
    if (!bytes || *bytes < kLeast || *bytes > kMost)
        throw WrongUsage(fmt::format("--keep-limit {}: give a size from 10kB on, like 2GB", text));
    return static_cast<std::uint64_t>(*bytes);
}

/// A recording that is being written.
class LossRecorder::Kept {
  public:
    Kept(const fs::path& path, const io::SigmfMetadata& samples, std::size_t most_waiting, bool live)
        : name(path.stem().string()), annotations_(std::make_shared<IqAnnotations>()) {
        auto file = std::make_unique<IqFile>(path, samples, annotations_);
        if (!live) {
            output_ = std::move(file);
            return;
        }
        auto queued = std::make_unique<QueuedOutput>(std::move(file), std::stop_token(),
                                                     QueueLimits{.bytes = most_waiting});
        queue_ = queued.get();
        output_ = std::move(queued);
    }

    ByteOutput& output() { return *output_; }
    void mark(std::uint64_t at) { annotations_->push_back({at, 0, "loss of lock", ""}); }
    bool is_written() const { return !queue_ || queue_->is_empty(); }

    const std::string name;  // of both files, less their extensions
    std::uint64_t bytes = 0;

  private:
    std::shared_ptr<IqAnnotations> annotations_;
    std::unique_ptr<ByteOutput> output_{};
    const QueuedOutput* queue_ = nullptr;
};

LossRecorder::LossRecorder(const LossOptions& options, const io::SigmfMetadata& samples, bool live)
    : options_(options), samples_(samples), live_(live) {
    const std::size_t size = dsp::bytes_per_sample(samples.format);
    const double count = options.seconds * samples.sample_rate_hz.value_or(0);
    const double bytes = count * static_cast<double>(size);
    if (bytes > kMostLossMemory)
        throw WrongUsage(
            fmt::format("--keep-iq-around-loss: {:.3g} s of this carrier are {:.0f} MB, more than the "
                        "{:.0f} MB that are kept in memory",
                        options.seconds, bytes / 1e6, kMostLossMemory / 1e6));
    if (2 * bytes + kLossMetaBytes > static_cast<double>(options.most_bytes))
        throw WrongUsage(
            fmt::format("--keep-limit: one loss takes {:.0f} MB: give more, or less "
                        "--keep-iq-around-loss",
                        std::ceil(2 * bytes / 1e6)));
    std::error_code none;
    if (!fs::is_directory(options.folder, none))
        throw JobFailed(fmt::format("--keep-folder {}: it is no folder", options.folder));
    ring_.resize(std::max<std::size_t>(1, static_cast<std::size_t>(count)) * size);
}

LossRecorder::~LossRecorder() = default;

template <class Act>
void LossRecorder::attempt(Act act) {
    try {
        act();
    } catch (const Error& error) {
        if (failure_.empty())
            warn(fmt::format("samples around a loss of lock are not kept: {}", error.what()));
        failure_ = error.what();
        file_.reset();
        left_ = 0;
    }
}

void LossRecorder::remember(std::span<const std::byte> samples) {
    if (samples.size() > ring_.size()) samples = samples.last(ring_.size());
    const std::size_t first = std::min(samples.size(), ring_.size() - next_);
    std::ranges::copy(samples.first(first), ring_.begin() + static_cast<std::ptrdiff_t>(next_));
    std::ranges::copy(samples.subspan(first), ring_.begin());
    next_ = (next_ + samples.size()) % ring_.size();
    filled_ = std::min(ring_.size(), filled_ + samples.size());
}

void LossRecorder::lost() {
    ++losses_;
    attempt([&] {
        if (!file_) begin_file();
        file_->mark(file_->bytes / dsp::bytes_per_sample(samples_.format));
        // Another loss makes it longer, as far as one recording may go.
        const std::uint64_t room = options_.most_bytes - kLossMetaBytes - file_->bytes;
        left_ = std::min<std::uint64_t>(ring_.size(), room);
        make_room(file_->bytes + left_ + kLossMetaBytes);
    });
}

void LossRecorder::take(std::span<const std::byte> samples) {
    if (file_) attempt([&] { write(samples); });
    remember(samples);
    if (!done_.empty()) attempt([&] { close_those_done(); });
}

void LossRecorder::begin_file() {
    make_room(2 * ring_.size() + kLossMetaBytes);
    io::SigmfMetadata samples = samples_;
    samples.description = "Samples around a loss of lock, which is marked where it was noticed";
    samples.datetime.clear();
    const auto remembered = static_cast<double>(filled_ / dsp::bytes_per_sample(samples_.format));
    if (live_) samples.datetime = utc_text("{:%Y-%m-%dT%H:%M:%SZ}", remembered / *samples_.sample_rate_hz);
    file_ = std::make_unique<Kept>(free_path(options_.folder), samples, 2 * ring_.size() + kLossPieceBytes,
                                   live_);
    ++files_;
    const std::size_t oldest = filled_ < ring_.size() ? 0 : next_;
    for (std::size_t done = 0; done < filled_;) {
        const std::size_t at = (oldest + done) % ring_.size();
        const std::size_t some = std::min({kLossPieceBytes, filled_ - done, ring_.size() - at});
        file_->output().write({reinterpret_cast<const std::uint8_t*>(ring_.data()) + at, some});
        done += some;
    }
    file_->bytes = filled_;
}

void LossRecorder::write(std::span<const std::byte> samples) {
    const std::size_t some = static_cast<std::size_t>(std::min<std::uint64_t>(left_, samples.size()));
    if (some > 0) file_->output().write({reinterpret_cast<const std::uint8_t*>(samples.data()), some});
    file_->bytes += some;
    left_ -= some;
    if (left_ == 0) end_file();
}

// The reader of samples does not wait until it is written.
void LossRecorder::end_file() {
    done_.push_back(std::move(file_));
}

void LossRecorder::close_those_done() {
    while (!done_.empty() && done_.front()->is_written()) {
        const std::unique_ptr<Kept> file = std::move(done_.front());
        done_.pop_front();
        file->output().close();
    }
}

bool LossRecorder::is_being_written(const std::string& name) const {
    return (file_ && file_->name == name) ||
           std::ranges::any_of(done_, [&](const auto& file) { return file->name == name; });
}

// `wanted`: for what is written now.
void LossRecorder::make_room(std::uint64_t wanted) {
    std::map<std::string, std::uint64_t> kept = kept_in(options_.folder);
    if (file_) kept.erase(file_->name);
    std::uint64_t bytes = 0;
    for (const auto& [name, size] : kept) bytes += size;
    for (auto oldest = kept.begin(); oldest != kept.end() && bytes + wanted > options_.most_bytes; ++oldest) {
        if (is_being_written(oldest->first)) continue;
        std::error_code none;
        for (const char* extension : {".sigmf-data", ".sigmf-meta"})
            fs::remove(fs::path(options_.folder) / (oldest->first + extension), none);
        bytes -= oldest->second;
        ++files_removed_;
    }
}

void LossRecorder::close() {
    if (file_) end_file();
    while (!done_.empty()) {
        const std::unique_ptr<Kept> file = std::move(done_.front());
        done_.pop_front();
        attempt([&] { file->output().close(); });
    }
}

}  // namespace tidemill::cli

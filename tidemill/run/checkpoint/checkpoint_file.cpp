#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "tidemill/guard.hpp"
#include "tidemill/platform/start_thread.hpp"
#include "tidemill/run/checkpoint/checkpoint.hpp"

namespace tidemill {

/// Writes again and again until it goes.
class CheckpointFile::Writer {
  public:
    Writer(const CheckpointFile& file, Take take)
        : file_(file),
          take_(std::move(take)),
          thread_(start_thread([this](const std::stop_token& done) { write_until(done); })) {}

    /// Why it ended before it was asked to, if it did.
    std::exception_ptr finish() {
        thread_.request_stop();
        if (thread_.joinable()) thread_.join();
        return failure_;
    }

  private:
    void write_until(const std::stop_token& done) {
        std::unique_lock lock(mutex_);
        const auto is_done = [&] { return done.stop_requested(); };
        while (!wake_.wait_for(lock, done, file_.every_, is_done) && !is_done()) {
            if (!write_one()) return;
        }
    }

    // False where there is nothing more to write.
    bool write_one() {
        bool goes_on = true;
        failure_ = internal::thrown_by([&] {
            const std::optional<Checkpoint> taken = take_();
            goes_on = taken.has_value();
            if (goes_on) write(*taken);
        });
        return goes_on && !failure_;
    }

    // A disk may be full for a while, and the last one tells.
    void write(const Checkpoint& taken) const {
        try {
            write_checkpoint(taken, file_.path_);
        } catch (const CheckpointNotWritten&) {
        }
    }

    const CheckpointFile& file_;
    Take take_;
    std::exception_ptr failure_;
    std::mutex mutex_;  // for the condition alone
    std::condition_variable_any wake_;
    std::jthread thread_;
};

CheckpointFile::CheckpointFile(std::filesystem::path path, std::chrono::nanoseconds every)
    : path_(std::move(path)), every_(every) {}

CheckpointFile::~CheckpointFile() = default;

void CheckpointFile::follow(Take take) {
    writer_ = std::make_unique<Writer>(*this, std::move(take));
}

void CheckpointFile::finish(const Checkpoint& last) {
    const std::exception_ptr failure = std::exchange(writer_, nullptr)->finish();
    if (failure) std::rethrow_exception(failure);
    write_checkpoint(last, path_);
}

void CheckpointFile::give_up() noexcept {
    if (writer_) std::exchange(writer_, nullptr)->finish();
}

}  // namespace tidemill

#include "tidemill/cli/outputs/queued_output.hpp"

#include <utility>

#include "tidemill/error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/platform/start_thread.hpp"

namespace tidemill::cli {

QueuedOutput::QueuedOutput(std::unique_ptr<ByteOutput> to, std::stop_token hurry, const QueueLimits& limits)
    : to_(std::move(to)),
      hurry_(std::move(hurry)),
      limits_(limits),
      at_(to_->at()),
      thread_(start_thread([this](const std::stop_token& done) { work(done); })) {}

QueuedOutput::~QueuedOutput() {
    thread_.request_stop();
    to_->end();
}

void QueuedOutput::write(std::span<const std::uint8_t> piece) {
    const std::scoped_lock lock(mutex_);
    if (!failure_.empty()) {
        bytes_lost_ += piece.size();
        throw io::IoError(failure_);
    }
    if (waiting_bytes_ + piece.size() > limits_.bytes) {
        bytes_lost_ += piece.size();
        return;
    }
    waiting_.push_back({{piece.begin(), piece.end()}, came_at_});
    waiting_bytes_ += piece.size();
    wake_.notify_one();
}

void QueuedOutput::work(const std::stop_token& done) {
    std::unique_lock lock(mutex_);
    while (wake_.wait(lock, done, [&] { return !waiting_.empty(); })) {
        const Piece piece = std::move(waiting_.front());
        waiting_.pop_front();
        busy_ = true;
        hand_over(piece, lock);
        busy_ = false;
        ++pieces_done_;
        waiting_bytes_ -= piece.bytes.size();
        handed_over_.notify_all();
    }
}

void QueuedOutput::hand_over(const Piece& piece, std::unique_lock<std::mutex>& lock) {
    if (!failure_.empty()) {
        bytes_lost_ += piece.bytes.size();
        return;
    }
    std::string failure;
    lock.unlock();
    try {
        to_->came_at(piece.came_at);
        to_->write(piece.bytes);
    } catch (const Error& error) {
        failure = error.what();
    }
    const OutputLosses losses = to_->losses();
    OutputAt at = to_->at();
    lock.lock();
    losses_ = losses;
    at_ = std::move(at);
    if (failure.empty()) return;
    failure_ = failure;
    bytes_lost_ += to_->bytes_kept_back();
}

void QueuedOutput::flush() {
    std::unique_lock lock(mutex_);
    handed_over_.wait_for(lock, limits_.flush, [&] { return is_idle(); });
}

// As long as the place takes anything.
void QueuedOutput::wait_until_empty() {
    constexpr std::chrono::milliseconds kLook{50};  // whether there is a hurry
    std::unique_lock lock(mutex_);
    std::uint64_t seen = pieces_done_;
    std::chrono::milliseconds stalled{0};
    while (!handed_over_.wait_for(lock, kLook, [&] { return is_idle(); })) {
        stalled = seen == pieces_done_ ? stalled + kLook : std::chrono::milliseconds(0);
        seen = pieces_done_;
        if (stalled >= (hurry_.stop_requested() ? limits_.stall_in_hurry : limits_.stall)) return;
    }
}

void QueuedOutput::close() {
    wait_until_empty();
    thread_.request_stop();
    to_->end();
    thread_.join();
    for (const Piece& piece : waiting_) bytes_lost_ += piece.bytes.size();
    if (failure_.empty() && waiting_.empty()) {
        to_->close();
        losses_ = to_->losses();
        return;
    }
    throw io::IoError(failure_.empty() ? "the place took nothing for too long, and was given up" : failure_);
}

OutputAt QueuedOutput::at() const {
    const std::scoped_lock lock(mutex_);
    return at_;
}

void QueuedOutput::go_on_at(const OutputAt& at) {
    const std::scoped_lock lock(mutex_);
    to_->go_on_at(at);
    at_ = at;
}

bool QueuedOutput::is_empty() const {
    const std::scoped_lock lock(mutex_);
    return is_idle();
}

OutputLosses QueuedOutput::losses() const {
    const std::scoped_lock lock(mutex_);
    OutputLosses all = losses_;
    all.bytes += bytes_lost_;
    return all;
}

}  // namespace tidemill::cli

#include "tidemill/apps/outputs/queued_output.hpp"

#include <utility>

#include "tidemill/base/error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/machine/start_thread.hpp"

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

// The first piece always has.
bool QueuedOutput::has_room(std::size_t bytes) const {
    return waiting_bytes_ == 0 ||
           (waiting_bytes_ + bytes <= limits_.bytes && waiting_s_ + came_at_.lasts_s <= limits_.signal_s);
}

void QueuedOutput::write(std::span<const std::uint8_t> piece) {
    std::unique_lock lock(mutex_);
    if (limits_.when_full == io::WhenFull::wait)
        handed_over_.wait(lock, [&] { return has_room(piece.size()) || !failure_.empty(); });
    if (!failure_.empty()) {
        bytes_lost_ += piece.size();
        throw io::IoError(failure_);
    }
    if (!has_room(piece.size())) {
        bytes_lost_ += piece.size();
        return;
    }
    waiting_.push_back({{piece.begin(), piece.end()}, came_at_});
    waiting_bytes_ += piece.size();
    waiting_s_ += came_at_.lasts_s;
    wake_.notify_one();
}

void QueuedOutput::work(const std::stop_token& done) {
    std::unique_lock lock(mutex_);
    while (wait_for_piece(lock, done)) {
        Piece piece = std::move(waiting_.front());
        waiting_.pop_front();
        waiting_s_ = waiting_.empty() ? 0 : waiting_s_ - piece.came_at.lasts_s;
        const std::size_t bytes = piece.bytes.size();
        hand_over(std::move(piece), lock);
        ++pieces_done_;
        waiting_bytes_ -= bytes;
        kept_back_ = true;
        handed_over_.notify_all();
    }
}

// If no piece comes soon, nothing is kept back for it.
bool QueuedOutput::wait_for_piece(std::unique_lock<std::mutex>& lock, const std::stop_token& done) {
    const auto came = [&] { return !waiting_.empty(); };
    if (kept_back_ && failure_.empty() && !wake_.wait_for(lock, done, limits_.idle, came)) {
        kept_back_ = false;
        if (!done.stop_requested()) act([](ByteOutput& to) { to.flush(); }, lock);
    }
    return wake_.wait(lock, done, came);
}

void QueuedOutput::hand_over(Piece piece, std::unique_lock<std::mutex>& lock) {
    if (!failure_.empty()) {
        bytes_lost_ += piece.bytes.size();
        return;
    }
    piece.came_at.waiting_s = waiting_s_;
    piece_lasts_s_ = piece.came_at.lasts_s;
    act(
        [&](ByteOutput& to) {
            to.came_at(piece.came_at);
            to.write(piece.bytes);
        },
        lock);
    piece_lasts_s_ = 0;
}

// Without the lock, for which the writer must never wait.
template <class Act>
void QueuedOutput::act(Act act, std::unique_lock<std::mutex>& lock) {
    std::string failure;
    busy_ = true;
    lock.unlock();
    try {
        act(*to_);
    } catch (const Error& error) {
        failure = error.what();
    }
    const OutputLosses losses = to_->losses();
    OutputAt at = to_->at();
    lock.lock();
    busy_ = false;
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

// As long as the place takes anything: a piece may take as long as the signal that it came in.
void QueuedOutput::wait_until_empty() {
    constexpr std::chrono::milliseconds kLook{50};  // whether there is a hurry
    std::unique_lock lock(mutex_);
    std::uint64_t seen = pieces_done_;
    std::chrono::milliseconds stalled{0};
    while (!handed_over_.wait_for(lock, kLook, [&] { return is_idle(); })) {
        stalled = seen == pieces_done_ ? stalled + kLook : std::chrono::milliseconds(0);
        seen = pieces_done_;
        const auto lasts = std::chrono::duration<double>(piece_lasts_s_);
        if (stalled >= (hurry_.stop_requested() ? limits_.stall_in_hurry : limits_.stall + lasts)) return;
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

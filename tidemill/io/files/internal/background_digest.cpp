#include "tidemill/io/files/internal/background_digest.hpp"

#include <algorithm>

#include "tidemill/machine/start_thread.hpp"

namespace tidemill::io::internal {

namespace {

constexpr std::size_t kPieceBytes = 1 << 20;
constexpr std::size_t kMostWaitingBytes = 4 * kPieceBytes;

}  // namespace

bool BackgroundDigest::has_thread() {
    if (thread_.joinable() || !start_) return thread_.joinable();
    try {
        thread_ = start_([this](const std::stop_token& stop) { digest_what_comes(stop); });
    } catch (const NoMoreThreads&) {
        start_ = {};
    }
    return thread_.joinable();
}

void BackgroundDigest::update(std::span<const std::byte> bytes) {
    if (!has_thread()) return digest(bytes);
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPieceBytes, bytes.size())))
        take(bytes.first(std::min(kPieceBytes, bytes.size())));
}

void BackgroundDigest::take(std::span<const std::byte> piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < kMostWaitingBytes; });
    waiting_.insert(waiting_.end(), piece.begin(), piece.end());
    lock.unlock();
    changed_.notify_all();
}

// To the last byte that was taken, also when it is to end.
void BackgroundDigest::digest_what_comes(const std::stop_token& stop) {
    std::vector<std::byte> taken;
    for (;;) {
        taken.clear();
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
        taken.swap(waiting_);
        lock.unlock();
        changed_.notify_all();
        digest(taken);
    }
}

void BackgroundDigest::digest(std::span<const std::byte> piece) noexcept {
    if (failure_) return;
    try {
        sha_.update(piece);
    } catch (...) {
        failure_ = std::current_exception();
    }
}

std::string BackgroundDigest::finish() {
    thread_ = {};
    if (failure_) std::rethrow_exception(failure_);
    return sha_.finish();
}

}  // namespace tidemill::io::internal

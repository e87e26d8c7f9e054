#include "tidemill/dvbs2/receiver/borrowed_samples.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/pushed_samples.hpp"

namespace tidemill::dvbs2 {

BorrowedSamples::BorrowedSamples(const PushedConfig& config)
    : format_(config.format), sample_rate_hz_(known_rate(config.sample_rate_hz)) {}

// Lent samples stay where they are until it is said here that they were read, so they are copied without the
// lock.
std::size_t BorrowedSamples::read(std::span<std::byte> to) {
    std::unique_lock lock(mutex_);
    lent_more_.wait(lock, [&] { return !lent_.empty() || finished_ || cancelled_; });
    if (cancelled_ || lent_.empty()) return 0;
    const std::size_t sample = dsp::bytes_per_sample(format_);
    const std::size_t bytes = std::min(to.size() / sample * sample, lent_.size());
    const std::byte* const from = lent_.data();
    lock.unlock();
    std::memcpy(to.data(), from, bytes);
    lock.lock();
    lent_ = lent_.subspan(bytes);
    const bool is_all = lent_.empty();
    lock.unlock();
    if (is_all) given_back_.notify_one();
    return bytes;
}

std::size_t BorrowedSamples::push(std::span<const std::byte> samples, bool waits) {
    check_whole(samples.size(), dsp::bytes_per_sample(format_));
    if (!waits) throw Dvbs2Error("no samples may wait, so they are lent: push() does, and waits");
    std::unique_lock lock(mutex_);
    if (finished_) throw Dvbs2Error(kBehindTheEnd);
    lent_ = samples;
    lent_more_.notify_one();
    given_back_.wait(lock, [&] { return lent_.empty() || over_; });
    if (!std::exchange(lent_, {}).empty()) throw Dvbs2Error(kReceptionIsOver);
    return samples.size();
}

void BorrowedSamples::say(bool& what) {
    {
        const std::lock_guard lock(mutex_);
        what = true;
    }
    lent_more_.notify_one();
    given_back_.notify_one();
}

}  // namespace tidemill::dvbs2

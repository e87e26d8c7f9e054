#include "tidemill/io/live/sample_ring.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace tidemill::io {

namespace {

// A piece is what is asked of the source at a time: little enough that nobody waits for it.
constexpr std::size_t kPieceBytes = 1 << 16;
constexpr double kLeastRingBytes = 4 * kPieceBytes, kMostRingBytes = 1 << 28;

std::size_t ring_bytes(double seconds, double sample_rate_hz, std::size_t sample_bytes) {
    const double wanted = seconds * sample_rate_hz * static_cast<double>(sample_bytes);
    const auto bytes = static_cast<std::size_t>(std::clamp(wanted, kLeastRingBytes, kMostRingBytes));
    return bytes - bytes % sample_bytes;
}

}  // namespace

SampleRing::SampleRing(std::unique_ptr<LiveSource> source, const RingConfig& config)
    : source_(std::move(source)), config_(config) {}

SampleRing::~SampleRing() {
    end();
}

bool SampleRing::begin() {
    if (!source_->begin()) return false;
    sample_bytes_ = dsp::bytes_per_sample(source_->format());
    ring_.resize(ring_bytes(config_.seconds, source_->sample_rate_hz().value_or(0), sample_bytes_));
    lost_piece_.resize(kPieceBytes - kPieceBytes % sample_bytes_);
    thread_ = std::jthread([this] { take(); });
    return true;
}

void SampleRing::end() noexcept {
    {
        const Lock lock(mutex_);
        unwanted_ = true;
    }
    source_->end();
    came_.notify_all();
    taken_.notify_all();
}

void SampleRing::take() {
    try {
        while (take_piece()) {
        }
    } catch (...) {
        const Lock lock(mutex_);
        failure_ = std::current_exception();
    }
    const Lock lock(mutex_);
    ended_ = true;
    came_.notify_all();
}

// Reads outside the lock: nobody else touches the room of the ring.
bool SampleRing::take_piece() {
    Lock lock(mutex_);
    if (!wait_for_room(lock)) return false;
    const std::span<std::byte> free = room();
    lock.unlock();
    const std::size_t got = source_->read(free.empty() ? std::span(lost_piece_) : free);
    const SampleLosses lost = source_->losses();
    lock.lock();
    if (got == 0) return false;
    last_came_ = std::chrono::steady_clock::now();
    places_.look(samples_came_, lost);  // a source gives out silence for a gap at once
    const bool is_new = !is_counted_silence((free.empty() ? std::span(lost_piece_) : free).first(got), lost);
    if (free.empty()) lose(got, is_new);
    samples_came_ += got / sample_bytes_;
    if (free.empty()) return true;
    in_ += got;
    most_ = std::max(most_, in_ - out_);
    came_.notify_one();
    return true;
}

// Up to the ring's end; empty where it is full.
std::span<std::byte> SampleRing::room() {
    const std::size_t at = in_ % ring_.size();
    const std::size_t free = ring_.size() - static_cast<std::size_t>(in_ - out_);
    return std::span(ring_).subspan(at, std::min({free, ring_.size() - at, lost_piece_.size()}));
}

bool SampleRing::wait_for_room(Lock& lock) {
    if (!config_.drops) taken_.wait(lock, [&] { return in_ - out_ < ring_.size() || unwanted_; });
    return !unwanted_;
}

// Silence that stands for samples which the source has counted as missing: without room for it, nothing more
// is lost.
bool SampleRing::is_counted_silence(std::span<const std::byte> piece, const SampleLosses& lost) {
    silence_ += lost.samples - lost_by_source_;
    lost_by_source_ = lost.samples;
    const std::byte silent = silent_byte(source_->format());
    if (silence_ == 0 || !std::ranges::all_of(piece, [&](std::byte each) { return each == silent; }))
        return false;
    silence_ -= std::min<std::uint64_t>(silence_, piece.size() / sample_bytes_);
    return true;
}

// Pieces that are lost one after another are one gap.
void SampleRing::lose(std::size_t bytes, bool is_new) {
    if (gaps_.empty() || gaps_.back().at != in_) gaps_.push_back({in_, 0});
    gaps_.back().bytes += bytes;
    if (!is_new) return;
    if (!std::exchange(gaps_.back().is_counted, true)) {
        ++lost_.gaps;
        places_.add({.at = samples_came_});
    }
    lost_.samples += bytes / sample_bytes_;
    places_.grow({.samples = bytes / sample_bytes_});
}

std::size_t SampleRing::read(std::span<std::byte> to) {
    Lock lock(mutex_);
    wait_for_samples([&] { came_.wait(lock, [&] { return has_some(); }); });
    return give(to);
}

std::size_t SampleRing::read(std::span<std::byte> to, std::chrono::milliseconds patience) {
    Lock lock(mutex_);
    wait_for_samples([&] { came_.wait_for(lock, patience, [&] { return has_some(); }); });
    return give(to);
}

template <class Wait>
void SampleRing::wait_for_samples(Wait wait) {
    if (has_some()) return;
    waits_since_ = std::chrono::steady_clock::now();
    wait();
    waited_ += std::chrono::steady_clock::now() - *std::exchange(waits_since_, std::nullopt);
}

std::size_t SampleRing::give(std::span<std::byte> to) {
    if (unwanted_) return 0;
    to = to.first(to.size() - to.size() % sample_bytes_);
    if (!gaps_.empty() && gaps_.front().at == out_) return give_silence(gaps_.front(), to);
    const std::uint64_t until = gaps_.empty() ? in_ : gaps_.front().at;
    const std::size_t at = out_ % ring_.size();
    const std::size_t count =
        std::min({to.size(), static_cast<std::size_t>(until - out_), ring_.size() - at});
    if (count == 0 && failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    std::memcpy(to.data(), ring_.data() + at, count);
    out_ += count;
    taken_.notify_one();
    return count;
}

std::size_t SampleRing::give_silence(Gap& gap, std::span<std::byte> to) {
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), gap.bytes));
    std::ranges::fill(to.first(count), silent_byte(source_->format()));
    gap.bytes -= count;
    if (gap.bytes == 0) gaps_.pop_front();
    return count;
}

void SampleRing::missed_before(std::uint64_t samples) {
    const Lock lock(mutex_);
    lost_ = {.gaps = 1, .samples = samples, .estimated = samples};
    places_.add({.at = 0, .samples = samples, .estimated = samples});
}

SampleLosses SampleRing::losses() const {
    SampleLosses losses = source_->losses();
    const Lock lock(mutex_);
    losses.gaps += lost_.gaps;
    losses.samples += lost_.samples;
    losses.estimated += lost_.estimated;
    return losses;
}

std::vector<SampleGap> SampleRing::latest_gaps() const {
    const Lock lock(mutex_);
    return places_.latest();
}

bool SampleRing::skip_behind_gap(std::uint64_t read_before) {
    const Lock lock(mutex_);
    if (gaps_.empty()) return false;
    lost_.samples += (in_ - out_) / sample_bytes_ + read_before;
    skipped_ = samples_came_;
    out_ = in_;
    most_ = 0;
    gaps_.clear();
    taken_.notify_one();
    return true;
}

std::uint64_t SampleRing::skipped() const {
    const Lock lock(mutex_);
    return skipped_;
}

std::chrono::nanoseconds SampleRing::waited() const {
    const Lock lock(mutex_);
    return waits_since_ ? waited_ + (std::chrono::steady_clock::now() - *waits_since_) : waited_;
}

std::chrono::nanoseconds SampleRing::silent_for() const {
    const Lock lock(mutex_);
    if (in_ == 0 || in_ != out_ || ended_ || unwanted_) return {};
    return std::chrono::steady_clock::now() - last_came_;
}

RingFill SampleRing::fill() const {
    const Lock lock(mutex_);
    return {ring_.size() / sample_bytes_, (in_ - out_) / sample_bytes_, most_ / sample_bytes_};
}

bool SampleRing::is_half_full() const {
    const Lock lock(mutex_);
    return in_ - out_ > ring_.size() / 2;
}

}  // namespace tidemill::io

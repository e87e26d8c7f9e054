#include "tidemill/dvbs2/tuner/carrier_follower.hpp"

#include <algorithm>
#include <cmath>

namespace tidemill::dvbs2 {

namespace {

// All frequencies are in cycles per symbol, and there are two samples a symbol.
constexpr double kChunkSymbols = kChunkSamples / 2.0;
// One chunk in so many is measured.
constexpr std::uint64_t kEvery = 32;
constexpr double kMemoryChunks = 32;  // of those measured: a million symbols
constexpr double kReach = 0.25;
// The filters' edges have room for the one; the other is as near as need be.
constexpr double kAway = 0.01, kNear = 0.002;
// What the carrier's tracking follows unharmed, per symbol.
constexpr double kMostDrift = 1.5e-9;

FrontGeometry geometry_of(double rolloff) {
    return FrontGeometry({2, 1, rolloff, kChunkSamples});
}

}  // namespace

CarrierFollower::CarrierFollower(double rolloff)
    : geometry_(geometry_of(rolloff)),
      fit_(geometry_),
      window_(geometry_.history_samples() + geometry_.block_samples()) {}

void CarrierFollower::add(std::span<const Iq> samples) {
    correction_ += drift_ * static_cast<double>(samples.size()) / 2;
    look_at(samples);
}

void CarrierFollower::look_at(std::span<const Iq> samples) {
    while (true) {
        const std::size_t skipped = std::min<std::uint64_t>(to_skip_, samples.size());
        to_skip_ -= skipped;
        samples = samples.subspan(skipped);
        const std::size_t taken = std::min(window_.size() - filled_, samples.size());
        std::copy_n(samples.begin(), taken, window_.begin() + static_cast<std::ptrdiff_t>(filled_));
        filled_ += taken;
        if (filled_ < window_.size()) return;
        samples = samples.subspan(taken);
        measure();
        filled_ = 0;
        to_skip_ = kEvery * kChunkSamples - window_.size();
    }
}

// What was heard before a move lies where it lay then: a move in the time of the memory is small.
void CarrierFollower::measure() {
    sum_.scale(1 - 1 / kMemoryChunks);
    sum_.add(measure_spectrum(geometry_, 0, window_, 1).chunk[0]);
    const SpectrumFit::Best now = fit_.best(sum_, -kReach, kReach);
    const bool is_there = sum_.chunks > kMemoryChunks / 2 && now.share > fit_.threshold(sum_.chunks);
    const bool moves = is_there && std::abs(now.frequency) > (drift_ != 0 ? kNear : kAway);
    constexpr double kSymbols = static_cast<double>(kEvery) * kChunkSymbols;
    drift_ = moves ? std::clamp(now.frequency / kSymbols, -kMostDrift, kMostDrift) : 0;
}

}  // namespace tidemill::dvbs2

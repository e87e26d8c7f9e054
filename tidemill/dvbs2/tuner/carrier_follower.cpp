#include "tidemill/dvbs2/tuner/carrier_follower.hpp"

#include <algorithm>
#include <cmath>

namespace tidemill::dvbs2 {

namespace {

// All frequencies are in cycles per symbol.
constexpr std::uint32_t kLeastBlockSamples = 2 * kChunkSamples;
// One block in so many is measured.
constexpr std::uint64_t kEvery = 32;
constexpr double kMemoryChunks = 32;  // of those measured: a million symbols
constexpr double kReach = 0.25;
// The filters' edges have room for the one; the other is as near as need be.
constexpr double kAway = 0.01, kNear = 0.002;
// Drift that the carrier's tracking follows unharmed, per symbol.
constexpr double kMostDrift = 1.5e-9;

FrontGeometry geometry_of(double rolloff, double samples_per_symbol) {
    const FrontGeometry longest({samples_per_symbol, 1, rolloff, kMaxBlockSamples});
    const std::uint32_t chunks = (longest.history_samples() + kChunkSamples - 1) / kChunkSamples;
    return FrontGeometry(
        {samples_per_symbol, 1, rolloff, std::max(kLeastBlockSamples, chunks * kChunkSamples)});
}

}  // namespace

CarrierFollower::CarrierFollower(double rolloff, double samples_per_symbol)
    : geometry_(geometry_of(rolloff, samples_per_symbol)),
      fit_(geometry_),
      window_(geometry_.history_samples() + geometry_.block_samples()) {}

void CarrierFollower::add(std::span<const Iq> samples) {
    correction_ += drift_ * static_cast<double>(samples.size()) / geometry_.samples_per_symbol();
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
        to_skip_ = kEvery * geometry_.block_samples() - window_.size();
    }
}

// Spectra from before a move lie where they lay then: a move in the time of the memory is small.
void CarrierFollower::measure() {
    const BlockSpectrum block = measure_spectrum(geometry_, 0, window_, 1);
    for (std::uint32_t chunk = 0; chunk < geometry_.chunks(); ++chunk) {
        sum_.scale(1 - 1 / kMemoryChunks);
        sum_.add(block.chunk[chunk]);
    }
    const SpectrumFit::Best now = fit_.best(sum_, -kReach, kReach);
    const bool is_there = sum_.chunks > kMemoryChunks / 2 && now.share > fit_.threshold(sum_.chunks);
    const bool moves = is_there && std::abs(now.frequency) > (drift_ != 0 ? kNear : kAway);
    const double symbols =
        static_cast<double>(kEvery) * geometry_.block_samples() / geometry_.samples_per_symbol();
    drift_ = moves ? std::clamp(now.frequency / symbols, -kMostDrift, kMostDrift) : 0;
}

}  // namespace tidemill::dvbs2

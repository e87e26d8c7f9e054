#include "tidemill/dvbs2/front/front_block.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/io/files/hertz_text.hpp"

namespace tidemill::dvbs2 {

namespace {

// Eight symbols to each side leave -45 dB of intersymbol interference at a roll-off of 0.20, -60 dB at 0.25
// and -54 dB at 0.35; the stop band begins at -36 dB.
constexpr double kFilterSymbols = 16.0;

void check(bool fine, const std::string& message) {
    if (!fine) throw Dvbs2Error("receiver front: " + message);
}

}  // namespace

FrontGeometry::FrontGeometry(const FrontConfig& config)
    : samples_per_symbol_(config.sample_rate_hz / config.symbol_rate_hz),
      rolloff_(config.rolloff),
      live_(config.live),
      block_samples_(config.block_samples) {
    check(samples_per_symbol_ >= 2.0 && samples_per_symbol_ <= 16.0,
          fmt::format(
              "{} samples/s are {:.4g} times the symbol rate {}; they must be 2 to 16 times: resample, or "
              "correct the rates",
              io::hertz_text(config.sample_rate_hz), samples_per_symbol_,
              io::hertz_text(config.symbol_rate_hz)));
    check(rolloff_ >= 0.05 && rolloff_ <= 0.5,
          fmt::format("roll-off {} is outside 0.05 to 0.50; DVB-S2 has 0.35, 0.25 and 0.20", rolloff_));
    filter_taps_ = 2 * static_cast<std::uint32_t>(std::ceil(kFilterSymbols * samples_per_symbol_ / 2.0));
    const double subblock = (2 * kSubblockSymbols + 2 * kPairsBefore) * samples_per_symbol_ / 2.0;
    history_samples_ = (static_cast<std::uint32_t>(subblock) + filter_taps_ + 8) / 8 * 8;
    const auto half = static_cast<std::size_t>(samples_per_symbol_ / 2.0);
    lags_ = samples_per_symbol_ == 2.0 * static_cast<double>(half) ? dsp::LagSet{half, 2 * half, 8}
                                                                   : dsp::LagSet{half, half, 16};
    check(block_samples_ <= kMaxBlockSamples && block_samples_ >= history_samples_ &&
              block_samples_ % kChunkSamples == 0,
          fmt::format("block_samples {} must be a multiple of {} between {} and {}", block_samples_,
                      kChunkSamples, history_samples_, kMaxBlockSamples));
}

std::int64_t FrontGeometry::subblocks_before(std::int64_t block) const {
    const double end = static_cast<double>(block) * block_samples_ - filter_taps_ / 2.0 - 1.0;
    const double samples = std::floor(end * 2.0 / samples_per_symbol_);
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(samples / (2.0 * kSubblockSymbols)));
}

std::uint32_t FrontGeometry::subblocks_of(std::int64_t block, std::uint32_t valid) const {
    const std::int64_t first = subblocks_before(block);
    const double end =
        static_cast<double>(block) * block_samples_ + valid + filter_taps_ / 2.0 + 2 * kPairsBefore;
    const auto touched = static_cast<std::int64_t>(std::ceil(end / samples_per_symbol_ / kSubblockSymbols));
    const std::int64_t complete = subblocks_before(block + 1);
    const std::int64_t last = valid < block_samples_ ? std::min(complete, touched) : complete;
    return static_cast<std::uint32_t>(std::max<std::int64_t>(0, last - first));
}

std::uint32_t live_block_samples(const FrontConfig& config) {
    constexpr double kSeconds = 0.02;
    const FrontGeometry geometry(config);
    const double least =
        std::max(config.sample_rate_hz * kSeconds, static_cast<double>(geometry.history_samples()));
    const double chunks = std::ceil(std::min<double>(least, kMaxBlockSamples) / kChunkSamples);
    return static_cast<std::uint32_t>(chunks) * kChunkSamples;
}

}  // namespace tidemill::dvbs2

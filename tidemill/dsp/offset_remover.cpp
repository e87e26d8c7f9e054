#include "tidemill/dsp/offset_remover.hpp"

#include <algorithm>

#include "tidemill/dsp/iq_balance.hpp"

namespace tidemill::dsp {

namespace {

// Samples over which an offset is averaged: as long as it takes a carrier across it to show less.
constexpr double kOffsetMemory = 1 << 20;

}  // namespace

void OffsetRemover::process(std::span<Iq> samples) {
    const IqMoments moments = iq_moments(samples);
    samples_ = std::min(samples_ + moments.count, std::max(kOffsetMemory, moments.count));
    offset_ += (moments.sum - moments.count * offset_) / samples_;
    correct_iq(samples, {.offset = Iq(offset_)}, samples);
}

}  // namespace tidemill::dsp

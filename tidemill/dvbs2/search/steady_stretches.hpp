#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

/// Part of a recording, by its samples.
struct SampleStretch {
    std::uint64_t first = 0;
    std::uint64_t count = 0;

    bool operator==(const SampleStretch&) const = default;
};

/// Reads samples from a place on; returns how many there were, fewer than fit only at the end.
using ReadAt = std::function<std::size_t(std::uint64_t first, std::span<dsp::Iq> to)>;

/// Cuts a recording where the spectrum of its band changes: where a signal begins, ends or moves. The stretch
/// with the most power over the quietest one comes first. One stretch means that nothing changes. Reads at
/// most 2^26 samples: all of a short recording, pieces at equal distances of a longer one.
std::vector<SampleStretch> steady_stretches(std::uint64_t samples, const ReadAt& read);

/// First sample of a stretch without those of the one before: at most 3072 samples before the change. Where
/// the change cannot be seen so closely, the stretch's first sample.
std::uint64_t place_of_change(const SampleStretch& stretch, const ReadAt& read);

}  // namespace tidemill::dvbs2

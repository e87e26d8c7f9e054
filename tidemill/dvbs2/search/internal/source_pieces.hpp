#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dvbs2/search/internal/unknown_pulses.hpp"
#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2::internal {

/// Calls use(samples) for pieces of what a source gives, without pulses, until it returns false or the source
/// ends.
template <class Use>
void read_pieces(io::SampleSource& source, Use use) {
    constexpr std::size_t kPiece = 1 << 15;
    const std::size_t size = dsp::bytes_per_sample(source.format());
    std::vector<std::byte> bytes(kPiece * size);
    std::vector<dsp::Iq> samples(kPiece);
    while (const std::size_t got = source.read(bytes)) {
        const auto piece = std::span(samples).first(got / size);
        dsp::convert_samples(source.format(), std::span(bytes).first(got / size * size), piece);
        blank_unknown_pulses(piece);
        if (!use(piece)) return;
    }
}

}  // namespace tidemill::dvbs2::internal

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/dvbs2/sync/frame_info.hpp"
#include "tidemill/dvbs2/sync/header_search.hpp"
#include "tidemill/dvbs2/sync/internal/damaged_header.hpp"
#include "tidemill/dvbs2/sync/internal/front_path.hpp"
#include "tidemill/dvbs2/sync/internal/symbol_positions.hpp"
#include "tidemill/dvbs2/sync/internal/symbol_store.hpp"

namespace tidemill::dvbs2::internal {

/// The latest part of a stream of symbols, and whether that is its end.
struct HeardSymbols {
    // More than is ever kept, five frames of the longest and one that is under way: what grows only when
    // noise looks like the header of a long frame would grow after hours.
    SymbolStore kept{7 * kMaxFrameSymbols};
    FrontPath front;
    SymbolPositions places;
    bool ended = false;

    std::uint64_t end() const { return kept.end(); }

    template <class Archive>
    void keep(Archive& archive) {
        archive("kept", kept)("front", front)("places", places)("ended", ended);
    }
};

/// Where a PLFRAME stands in the stream.
struct FoundFrame {
    std::uint64_t start = 0;
    int length = 0;
    Pls pls;
    float quality = 0;
    bool good = false;  // recognised, by its header or its data, not only expected here
    bool inverted = false;
    MissingSymbols missing{};  // as FrameInfo has it

    std::uint64_t end() const { return start + static_cast<std::uint64_t>(length); }
};

/// A place at which the header of a first frame stands, and what it looks like.
struct FrameLead {
    std::uint64_t place = 0;
    HeaderHit hit;
};

// Noise passes 0.2 in a search with probability 2e-5 per candidate, and in one test with 3e-7; a header at
// -2.35 dB, where the mean is 0.37, misses it once in 300.
inline constexpr float kSearchQuality = 0.20F;

// Cycles per symbol by which a carrier may drift from a header to the next: 6e-7 a symbol and the longest
// frames.
inline constexpr double kLargestDriftLag = 0.02;

/// Conditions for a header at a place that is known, but for `slips` symbols.
struct HeaderQuery {
    double frequency;  // cycles per symbol
    bool inverted;
    float quality;  // at the least
    std::span<const int> slips;
};

inline constexpr int kNoSlip[]{0};

/// The frame whose header is at `place`; nothing where none is recognised.
std::optional<FoundFrame> frame_near(const SymbolStore& kept, std::uint64_t place, const HeaderQuery& wanted);

/// Symbols of the header at `place` that were not zeroed with a pulse.
int header_symbols_left(const SymbolStore& kept, std::uint64_t place);

/// The frame that ends where `next` begins, not before `floor`.
std::optional<FoundFrame> frame_before(const SymbolStore& kept, std::uint64_t floor, const FoundFrame& next,
                                       double frequency);

/// Copies symbols, conjugated where the spectrum is.
void copy_upright(std::span<const Iq> from, bool inverted, std::span<Iq> to);

/// Examines the header at a place that is kept.
HeaderHit examine(const SymbolStore& kept, std::uint64_t place);

/// Rest of a damaged header, for a frequency in cycles per symbol.
DamagedHeader remains_at(const SymbolStore& kept, std::uint64_t place, bool inverted, double frequency);

}  // namespace tidemill::dvbs2::internal

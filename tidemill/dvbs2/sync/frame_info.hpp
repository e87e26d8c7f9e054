#pragma once

#include <cstdint>

#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

/// Room for the longest frame and the header behind it.
inline constexpr std::size_t kFrameBufferSymbols = kMaxFrameSymbols + kHeaderSymbols;

/// Symbols that the frames before and behind show to be missing among those received, in symbols of the
/// nominal rate.
struct MissingSymbols {
    double count = 0;  // 0: none
    double frame = 0;  // as many more may be missing as frames of this length have, any number of them
    double place = 0;  // of the symbols received, since the first sample;
    double before = 0, behind = 0;  // of the last frame before it, and of the first one behind
    // These lie so far apart that a signal may have ended and begun: only a known loss makes that likely. A
    // word, so that no byte of a checkpoint is left to chance.
    std::uint64_t doubtful = 0;

    friend bool operator==(const MissingSymbols&, const MissingSymbols&) = default;
};

/// Facts that travel with the symbols of one PLFRAME.
struct FrameInfo {
    std::uint64_t start = 0;     // place of the first symbol in the stream
    int symbols = 0;             // of the frame, header first; the next header follows where there is one
    Pls pls;                     // what the frame's header says
    int next_code = -1;          // PLS code of the header behind the frame; -1 when it is not there
    bool inverted = false;       // the symbols were conjugated to undo a conjugated spectrum
    bool alone = false;          // no other frame shows its frequency
    float header_quality = 0;    // as in HeaderMatch
    float frequency = 0;         // cycles per symbol, from the known symbols of many frames
    float frequency_sigma = 0;   // expected error of `frequency`
    float drift = 0;             // of the carrier, cycles per symbol squared; 0: none that need be followed
    double front_frequency = 0;  // taken out of its middle by the front, cycles per symbol
    double place = 0;            // of the first symbol, in symbols of the nominal rate since the first sample
    MissingSymbols missing{};    // found out since the frame before
};

/// Counts so far; every symbol pushed is in a frame, outside, or still kept.
struct FrameSyncCounts {
    std::uint64_t symbols = 0;          // pushed
    std::uint64_t symbols_outside = 0;  // in no delivered frame
    std::uint64_t frames = 0;           // delivered, dummy frames included
    std::uint64_t dummy_frames = 0;
    std::uint64_t bad_headers = 0;  // in delivered frames
    std::uint64_t slips = 0;        // headers found one or two symbols beside their place
    std::uint64_t locks = 0;        // times that frames were found, the first included
};

}  // namespace tidemill::dvbs2

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/dvbs2/sync/frequency_tracker.hpp"
#include "tidemill/dvbs2/sync/header_search.hpp"
#include "tidemill/dvbs2/sync/internal/symbol_store.hpp"

namespace tidemill::dvbs2 {

/// Room for the longest frame and the header behind it.
inline constexpr std::size_t kFrameBufferSymbols = kMaxFrameSymbols + kHeaderSymbols;

/// What travels with the symbols of one PLFRAME.
struct FrameInfo {
    std::uint64_t start = 0;    // place of the first symbol in the stream
    int symbols = 0;            // of the frame, header first; the next header follows where there is one
    Pls pls;                    // what the frame's header says
    int next_code = -1;         // PLS code of the header behind the frame; -1 when it is not there
    bool inverted = false;      // the symbols were conjugated to undo a conjugated spectrum
    float header_quality = 0;   // as in HeaderMatch
    float frequency = 0;        // cycles per symbol, from the known symbols of many frames
    float frequency_sigma = 0;  // expected error of `frequency`
};

/// What happened so far; every symbol pushed is in a frame, outside, or still kept.
struct FrameSyncCounts {
    std::uint64_t symbols = 0;          // pushed
    std::uint64_t symbols_outside = 0;  // in no delivered frame
    std::uint64_t frames = 0;           // delivered, dummy frames included
    std::uint64_t dummy_frames = 0;
    std::uint64_t bad_headers = 0;  // in delivered frames
    std::uint64_t slips = 0;        // headers found one or two symbols beside their place
    std::uint64_t locks = 0;        // times that frames were found, the first included
};

/// Cuts a stream of symbols into PLFRAMEs: push symbols, then pop frames until there is none.
///
/// It keeps what it hears while it searches and while it learns the frequency, and then starts from the
/// earliest frame kept. A lock needs two headers at the distance that the first one announces; for noise to
/// look like that has a probability below 1e-12 per symbol.
class FrameSync {
  public:
    /// The scrambler tells the pilots' values, which help to learn the frequency.
    explicit FrameSync(const PlScrambler& scrambler) : scrambler_(&scrambler) {}

    /// Takes any number of symbols.
    void push(std::span<const Iq> symbols);

    /// Says that no symbol will follow, so that the last frames come out.
    void flush();

    /// Writes the next frame into `frame` (kFrameBufferSymbols); empty when more symbols are needed.
    std::optional<FrameInfo> pop(std::span<Iq> frame);

    /// True while frames follow one another.
    bool locked() const { return locked_; }

    const FrameSyncCounts& counts() const { return counts_; }

  private:
    struct Found {
        std::uint64_t start;
        int length;
        Pls pls;
        float quality;
        bool good;  // the header was recognised, not only expected here
        bool inverted;

        std::uint64_t end() const { return start + static_cast<std::uint64_t>(length); }
    };
    enum class Verdict { rejected, undecided, accepted };

    std::uint64_t end() const { return kept_.end(); }
    std::array<Iq, kHeaderSymbols> header_at(std::uint64_t place, bool inverted) const;
    std::optional<Found> header_near(std::uint64_t place, double frequency, bool inverted, float quality,
                                     std::span<const int> slips) const;

    bool advance();
    bool search();
    Verdict judge(std::uint64_t place);
    void lock_at(std::uint64_t place);
    std::optional<Found> frame_before(const Found& next) const;
    bool follow();
    bool has_jumped(std::uint64_t place, float quality);
    bool has_passed_over(const Found& next) const;
    void relock_at(std::uint64_t place, const HeaderHit& hit);
    void accept(const Found& next);
    void coast();
    void lose_lock();
    void finish();
    void learn(const Found& frame, const Found& next);
    double esn0() const;
    bool front_is_ready() const;
    FrameInfo deliver(std::span<Iq> frame);
    void leave_outside(std::uint64_t until);
    void forget_symbols();

    const PlScrambler* scrambler_;
    internal::SymbolStore kept_;
    std::uint64_t delivered_ = 0;  // every symbol before is counted
    bool flushed_ = false;

    HeaderSearch header_search_;
    std::uint64_t floor_ = 0;    // no header is looked for before
    std::uint64_t scanned_ = 0;  // next place to correlate
    std::vector<std::size_t> places_;
    std::deque<std::uint64_t> candidates_;
    std::optional<HeaderHit> hit_;  // what the first candidate looks like

    bool locked_ = false;
    bool inverted_ = false;
    int bad_in_a_row_ = 0;
    Found last_{};       // the frame whose end is awaited
    Found last_good_{};  // the last one with a recognised header
    std::deque<Found> found_;
    FrequencyTracker tracker_;
    std::vector<FrequencyTracker::Block> blocks_;
    std::vector<Iq> upright_;
    double quality_ = 0;  // mean of the good headers
    FrameSyncCounts counts_;
};

}  // namespace tidemill::dvbs2

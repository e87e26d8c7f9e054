#pragma once

#include <optional>
#include <span>

#include "tidemill/dvbs2/front/strobe_mark.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/dvbs2/sync/frame_info.hpp"
#include "tidemill/dvbs2/sync/internal/frame_follower.hpp"
#include "tidemill/dvbs2/sync/internal/frame_hunt.hpp"
#include "tidemill/dvbs2/sync/internal/frame_ledger.hpp"

namespace tidemill::dvbs2 {

/// Frequency that the front took out of some symbols: `frequency` (cycles per symbol) from the symbol `from`
/// on, before that what it took out of those before. Where it has `found` it, nobody knows that the carrier
/// is the one from before.
struct FrontTurn {
    std::uint32_t from = 0;
    double frequency = 0;
    bool found = false;
    std::span<const StrobeMark> marks{};  // of all symbols; none: one lies behind the other
};

/// Cuts a stream of symbols into PLFRAMEs: push symbols, then pop frames until there is none.
///
/// It keeps what it hears while it searches and while it learns the frequency, and then starts from the
/// earliest frame kept. A lock needs two headers at the distance that the first one announces; for noise to
/// look like that has a probability below 1e-12 per symbol.
class FrameSync {
  public:
    /// The scrambler gives the pilots' values, which help to learn the frequency. What is `live` is wanted at
    /// once: frames without pilots do not wait to show that their carrier has no drift.
    explicit FrameSync(const PlScrambler& scrambler, bool live = false) : follower_(scrambler, live) {}

    /// Takes any number of symbols.
    void push(std::span<const Iq> symbols, const FrontTurn& turn = {});

    /// Says that no symbol will follow, so that the last frames come out.
    void flush() { heard_.ended = true; }

    /// Writes the next frame into `frame` (kFrameBufferSymbols); empty when more symbols are needed.
    std::optional<FrameInfo> pop(std::span<Iq> frame);

    /// True while frames follow one another.
    bool locked() const { return locked_; }

    const FrameSyncCounts& counts() const { return ledger_.counts(); }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("heard", heard_)("hunt", hunt_)("follower", follower_)("locked", locked_)("ledger", ledger_);
    }

  private:
    bool front_is_ready() const;
    FrameInfo deliver(std::span<Iq> frame);
    bool advance() { return locked_ ? follow() : hunt(); }
    bool hunt();
    bool follow();
    void begin_hunt(const std::optional<internal::FrameLead>& lead);
    void forget_symbols();

    internal::HeardSymbols heard_;
    internal::FrameHunt hunt_;          // while nothing is known,
    internal::FrameFollower follower_;  // and from frame to frame
    bool locked_ = false;
    internal::FrameLedger ledger_;
};

}  // namespace tidemill::dvbs2

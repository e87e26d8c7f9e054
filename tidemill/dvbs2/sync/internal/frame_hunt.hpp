#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tidemill/dvbs2/sync/internal/found_frame.hpp"

namespace tidemill::dvbs2::internal {

/// Looks for a first frame where nothing is known: a likely header, confirmed by the one at the distance that
/// it announces.
class FrameHunt {
  public:
    enum class Progress { waiting, moved, found };  // for more symbols; try again; take() it

    Progress step(const HeardSymbols& heard);

    /// The header that was found; the hunt is over.
    FrameLead take();

    /// Begins anew: no header is looked for before `floor`.
    void begin_at(std::uint64_t floor);
    /// The same, with a header that is already suspected.
    void begin_with(std::uint64_t floor, const FrameLead& lead);
    /// Goes on at a place.
    void skip_to(std::uint64_t place) { scanned_ = place; }

    std::uint64_t floor() const { return floor_; }
    /// Symbols before this place are of no use any more.
    std::uint64_t needed() const;

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("floor", floor_)("scanned", scanned_)("candidates", candidates_)("hit", hit_);
    }

  private:
    enum class Verdict { rejected, undecided, accepted };

    bool scan(const HeardSymbols& heard);
    Verdict judge(const HeardSymbols& heard);
    bool is_confirmed(const HeardSymbols& heard, std::uint64_t next) const;
    bool is_extension(const HeardSymbols& heard) const;

    HeaderSearch header_search_;
    std::uint64_t floor_ = 0;    // no header is looked for before
    std::uint64_t scanned_ = 0;  // next place to correlate
    std::vector<std::size_t> places_;
    std::deque<std::uint64_t> candidates_;
    std::optional<HeaderHit> hit_;  // what the first candidate looks like
};

}  // namespace tidemill::dvbs2::internal

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dvbs2/sync/frame_info.hpp"
#include "tidemill/dvbs2/sync/internal/found_frame.hpp"
#include "tidemill/dvbs2/sync/internal/frame_grid.hpp"
#include "tidemill/dvbs2/sync/internal/frame_learner.hpp"
#include "tidemill/dvbs2/sync/internal/frame_ledger.hpp"
#include "tidemill/dvbs2/sync/internal/kind_history.hpp"

namespace tidemill::dvbs2::internal {

/// Follows frames from header to header, and keeps those that it found until they may be delivered.
class FrameFollower {
  public:
    enum class Progress {
        waiting,
        moved,
        ended,
        lost
    };  // for more symbols; try again; the stream; the frames

    struct Step {
        Progress progress;
        std::optional<FrameLead>
            lead{};  // where frames were lost: a header that may be the first of a new lock
    };

    FrameFollower(const PlScrambler& scrambler, bool live) : learner_(scrambler, live) {}

    /// Begins with a header that was found, and the frames before it from `floor` on.
    void begin(const HeardSymbols& heard, const FrameLead& lead, std::uint64_t floor);

    /// Looks for the header behind the last frame.
    Step step(const HeardSymbols& heard, FrameLedger& ledger);

    /// The first frame not yet delivered; null when there is none.
    const FoundFrame* front() const { return found_.empty() ? nullptr : &found_.front(); }
    /// Whether the first frame may be delivered while others still come: its end and the frequency are known.
    bool front_is_settled(std::uint64_t end) const;
    /// Writes the first frame into `frame`, with the header behind it.
    FrameInfo deliver(const HeardSymbols& heard, std::span<Iq> frame);

    /// Start of the last frame with a recognised header. That frame may have been cut short, so after a loss
    /// the next header may lie within it.
    std::uint64_t last_good_start() const { return last_good_.start; }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("learner", learner_)("grid", grid_)("kinds", kinds_)("floor", floor_);
        archive("last", last_)("last_good", last_good_)("bad_in_a_row", bad_in_a_row_)("found", found_);
    }

  private:
    std::optional<FoundFrame> next_frame(const HeardSymbols& heard, FrameLedger& ledger) const;
    std::optional<FoundFrame> hit_frame(const HeardSymbols& heard) const;
    std::optional<FoundFrame> dummy_frame(const HeardSymbols& heard) const;
    std::optional<FrameLead> jumped(const HeardSymbols& heard, const std::optional<FoundFrame>& next) const;
    std::optional<FrameLead> found_elsewhere(const HeardSymbols& heard, const FoundFrame& next) const;
    std::optional<FoundFrame> drifted_frame(const HeardSymbols& heard, const FrameLead& lead) const;
    bool may_be_known(const HeardSymbols& heard, const FrameLead& lead) const;
    bool has_passed_over(const HeardSymbols& heard, const FoundFrame& next) const;
    void learn(const HeardSymbols& heard, const FoundFrame& next);
    Step accept(const HeardSymbols& heard, const FoundFrame& next);
    Step pass_over(const HeardSymbols& heard);
    std::optional<std::vector<int>> fitting_kinds(const HeardSymbols& heard) const;
    Step lose(const std::optional<FrameLead>& lead = {});
    Step finish(std::uint64_t end);
    void tell_missing();

    FrameLearner learner_;
    FrameGrid grid_;
    KindHistory kinds_;
    std::uint64_t floor_ = 0;  // of the first frame
    FoundFrame last_;          // the frame whose end is awaited
    FoundFrame last_good_;     // the last one with a recognised header
    int bad_in_a_row_ = 0;
    std::deque<FoundFrame> found_;
};

}  // namespace tidemill::dvbs2::internal

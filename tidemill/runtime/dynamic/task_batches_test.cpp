#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/task_board.hpp"

namespace tidemill {
namespace {

// Two in three units keep state; each waits for some of those before it, and those with state for each other.
std::vector<DynamicUnit> random_units(std::mt19937_64& random) {
    std::vector<DynamicUnit> units;
    const std::size_t count = 1 + random() % 6;
    std::vector<std::vector<bool>> before;
    for (std::uint32_t k = 0; k < count; ++k) {
        DynamicUnit& unit = units.emplace_back();
        unit.sequential = k == 0 || random() % 3 != 0;
        std::vector<bool>& mine = before.emplace_back(count, false);
        for (std::uint32_t p = k; p-- > 0;) {
            const bool tied = (unit.sequential && units[p].sequential) || random() % 3 == 0;
            if (mine[p] || !tied) continue;
            unit.predecessors.push_back(p);
            units[p].successors.push_back(k);
            mine[p] = true;
            for (std::uint32_t q = 0; q < p; ++q) mine[q] = mine[q] || before[p][q];
        }
    }
    return units;
}

/// Workers that run what the board hands out, one run of one of them at a time, in any order; whatever a task
/// needs must have been done by then.
class CheckedCrew {
  public:
    CheckedCrew(std::uint64_t seed, std::uint64_t frames)
        : random_(seed), units_(random_units(random_)), frames_(frames), done_(units_.size()) {
        for (auto& unit : done_) unit.resize(frames, false);
        for (std::size_t k = 0; k < units_.size(); ++k) ticks_.push_back(1 + random_() % 300);
        settings_.policy = random_() % 2 == 0 ? "gpriority" : "botlev";
        settings_.kinds.resize(1 + random_() % 4);
        settings_.tokens = {static_cast<std::uint32_t>(1 + random_() % 64)};
        settings_.first_frames = {0};
        settings_.frames = frames;
        settings_.bundle_ticks = random_() % 2000;
        settings_.stop_when = [this] { return asked_++ >= stops_at_; };
        hands_.resize(settings_.kinds.size());
    }

    /// Ends before this frame begins.
    void stop_at(std::uint64_t frame) { stops_at_ = frame; }
    /// A unit ends the stream at this frame.
    void end_at(std::uint32_t unit, std::uint64_t frame) { end_ = {frame, unit}; }

    std::uint32_t unit_count() const { return static_cast<std::uint32_t>(units_.size()); }

    void run() {
        board_.emplace(units_, settings_);
        for (std::size_t steps = 0; !board_->finished(); ++steps) {
            REQUIRE(steps < 1000 * frames_);  // somebody always has something to do
            const std::size_t worker = random_() % hands_.size();
            Hand& hand = hands_[worker];
            if (hand.next < hand.runs.size()) {
                run_next(hand);
            } else {
                take_turn(static_cast<policy::WorkerId>(worker), hand);
            }
        }
    }

    /// On a frame, directly or not.
    bool depends(std::uint32_t unit, std::uint32_t on) const {
        return std::ranges::any_of(units_[unit].predecessors,
                                   [&](std::uint32_t before) { return before == on || depends(before, on); });
    }
    bool has_run(std::uint32_t unit, std::uint64_t frame) const { return done_[unit][frame]; }
    std::uint64_t delivered() const { return board_->counts().delivered; }
    std::size_t most_units_in_a_hand() const { return most_units_; }
    std::uint32_t most_frames_in_a_run() const { return most_frames_; }

  private:
    struct Hand {
        std::vector<TaskRun> runs;
        std::size_t next = 0;
        std::vector<StreamEnd> ends;
    };

    void take_turn(policy::WorkerId worker, Hand& hand) {
        for (StreamEnd& end : hand.ends) {
            board_->end(std::move(end));
            board_->halt();
        }
        hand.ends.clear();
        if (!hand.runs.empty()) board_->complete(worker, hand.runs, now_);
        hand.next = 0;
        board_->take(worker, random_() % hands_.size(), hand.runs);
        most_units_ = std::max(most_units_, hand.runs.size());
    }

    void run_next(Hand& hand) {
        TaskRun& run = hand.runs[hand.next++];
        for (const StreamEnd& end : hand.ends) run.limit = std::min(run.limit, end.limit_in(0).of(run.unit));
        const std::uint64_t end = std::min(run.first.frame + run.frames, run.limit);
        for (std::uint64_t frame = run.first.frame; frame < end; ++frame) {
            run_task_on(run.unit, frame);
            if (!end_ || end_->unit != run.unit || end_->frame != frame) continue;
            hand.ends.push_back({0, *end_, std::nullopt, {}});
            break;
        }
        most_frames_ = std::max(most_frames_, run.frames);
        run.ticks = ticks_[run.unit] * run.frames;
        now_ += run.ticks;
    }

    void run_task_on(std::uint32_t unit, std::uint64_t frame) {
        REQUIRE(frame < frames_);
        REQUIRE_FALSE(done_[unit][frame]);
        if (units_[unit].sequential && frame > 0) REQUIRE(done_[unit][frame - 1]);
        for (const std::uint32_t before : units_[unit].predecessors) REQUIRE(done_[before][frame]);
        const std::uint32_t tokens = settings_.tokens.front();
        if (frame >= tokens) REQUIRE(is_complete(frame - tokens));  // whose token it has
        done_[unit][frame] = true;
    }

    bool is_complete(std::uint64_t frame) const {
        return std::ranges::all_of(done_, [frame](const auto& unit) { return unit[frame]; });
    }

    std::mt19937_64 random_;
    std::vector<DynamicUnit> units_;
    std::uint64_t frames_;
    std::vector<std::vector<bool>> done_;  // [unit][frame]
    std::vector<std::uint64_t> ticks_;     // of a task, per unit
    TaskBoard::Settings settings_;
    std::optional<FrameLimit> end_;
    std::uint64_t stops_at_ = kEndless;
    std::uint64_t asked_ = 0;
    std::optional<TaskBoard> board_;
    std::vector<Hand> hands_;
    std::uint64_t now_ = 1;
    std::size_t most_units_ = 0;
    std::uint32_t most_frames_ = 0;
};

}  // namespace

TEST_CASE(
    "batches and runs from unit to unit: each task runs once and behind those before it, whoever is slow") {
    std::size_t most_units = 0;
    std::uint32_t most_frames = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        constexpr std::uint64_t kFrames = 300;
        CheckedCrew crew(seed, kFrames);
        crew.run();
        CHECK(crew.delivered() == kFrames);
        for (std::uint32_t unit = 0; unit < crew.unit_count(); ++unit) CHECK(crew.has_run(unit, kFrames - 1));
        most_units = std::max(most_units, crew.most_units_in_a_hand());
        most_frames = std::max(most_frames, crew.most_frames_in_a_run());
    }
    CHECK(most_units >= 6);  // else nothing of this was tried
    CHECK(most_frames >= 16);
}

TEST_CASE("a stream that is to stop ends exactly before the frame that it was asked about, batch or not") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        CheckedCrew crew(seed, 300);
        const std::uint64_t end = seed % 299;
        crew.stop_at(end);
        crew.run();
        CHECK(crew.delivered() == end);
        for (std::uint32_t unit = 0; unit < crew.unit_count(); ++unit) {
            if (end > 0) CHECK(crew.has_run(unit, end - 1));
            CHECK_FALSE(crew.has_run(unit, end));
        }
    }
}

TEST_CASE(
    "a task that ends the stream within a batch lets all frames before it through, and none from there on") {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        CheckedCrew crew(seed, 300);
        const std::uint64_t last = 40 + seed % 250;
        const auto unit = static_cast<std::uint32_t>(seed % crew.unit_count());
        crew.end_at(unit, last);
        crew.run();
        CHECK(crew.delivered() == last);
        for (std::uint32_t later = 0; later < crew.unit_count(); ++later)
            if (crew.depends(later, unit)) CHECK_FALSE(crew.has_run(later, last));
        for (std::uint32_t each = 0; each < crew.unit_count(); ++each) CHECK(crew.has_run(each, last - 1));
    }
}

}  // namespace tidemill

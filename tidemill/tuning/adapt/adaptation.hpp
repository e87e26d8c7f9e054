#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

namespace tidemill {

class LiveProfile;
struct LiveWindow;

/// Kinds on which each unit was seen to run.
using RanOnKinds = std::vector<std::vector<bool>>;

/// The profile with the weights that were seen while a schedule ran. What a unit takes on a kind where it is
/// seen for the first time, after others, is that kind's own; else the unit itself has changed, and its
/// weights on all kinds by the same factor: so does one in a mixed stage, where kinds are seen together.
/// Units that did not run keep their weights. Notes where they did.
Profile updated(Profile profile, const Schedule& schedule, const LiveWindow& seen, RanOnKinds& on_kinds);

/// When a pipeline is worth another schedule.
struct AdaptationOptions {
    Platform cores{};
    CostModel model{};
    const Strategy* strategy = nullptr;  ///< null: herad
    Objective objective{};
    double threshold = 0.1;           ///< part of the period that a change must save
    std::uint64_t least_frames = 20;  ///< to be seen before weights are believed, at least 1
};

/// The strategy's schedule for these weights, if that saves enough of the period that `now` has by them.
std::optional<Schedule> better_schedule(const Profile& profile, const Schedule& now,
                                        const AdaptationOptions& options);

/// A change that was made: of the schedule, or of the executor.
struct AdaptationChange {
    std::uint64_t frame = 0;  ///< source frames begun before it
    double before_us = 0;     ///< the old schedule's period by the weights just seen; of executors, in turns
    double after_us = 0;      ///< the new one's
    std::string from{};       ///< names of executors; empty: the schedule was changed
    std::string to{};
};

/// Keeps a running pipeline at its optimum: profiles its units live, and changes the schedule when the best
/// one for these weights is faster by more than a threshold.
///
///     Adaptation adaptation(pipeline, profile, schedule, {.cores = cores});
///     // every second, from another thread or from a task: adaptation.look();
///     pipeline.run({.observers = {&adaptation.observer()}});
class Adaptation {
  public:
    /// The schedule is the one that the pipeline was made with, for the profile's chain.
    Adaptation(Pipeline& pipeline, Profile profile, Schedule schedule, AdaptationOptions options);
    ~Adaptation();

    /// To be among the run's observers.
    Observer& observer();

    /// Looks at what passed since it last saw enough. Returns whether it changed the schedule; frames in
    /// flight are still finished under the old one. Called by one thread at a time.
    bool look();

    const Profile& profile() const { return profile_; }
    const Schedule& schedule() const { return schedule_; }
    const std::vector<AdaptationChange>& changes() const { return changes_; }

  private:
    Pipeline& pipeline_;
    Profile profile_;
    Schedule schedule_;
    AdaptationOptions options_;
    std::unique_ptr<LiveProfile> live_;
    RanOnKinds on_kinds_;
    std::uint64_t frames_ = 0;
    bool just_changed_ = false;
    std::vector<AdaptationChange> changes_;
};

}  // namespace tidemill

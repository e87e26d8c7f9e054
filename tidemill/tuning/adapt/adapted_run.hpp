#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/execute/relay.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/tuning/adapt/adaptation.hpp"
#include "tidemill/tuning/choose/run_candidates.hpp"
#include "tidemill/tuning/choose/run_config.hpp"
#include "tidemill/tuning/choose/stream_trials.hpp"
#include "tidemill/tuning/choose/way_runners.hpp"
#include "tidemill/tuning/profile/live_profile.hpp"

namespace tidemill {

/// Whether a run that adapts may change its executor: it is to be fast and nothing else, on cores of one
/// kind, and nothing is asked for that only pipelines do.
bool may_change_executor(const RunConfig& how, const Profile& profile, const Schedule& schedule,
                         const RunOptions& options);

/// Keeps a stream at its fastest: profiles its units live, and changes the schedule when another is better by
/// forecast, the executor when another one promises more and has then been faster in turns on the stream.
/// What an executor's turns came to scales its next forecasts, less and less so as time goes by.
class AdaptedRun {
  public:
    using Follow = std::function<void(const Schedule&)>;

    /// Begins with the schedule, which is for the profile's chain. Throws what a Pipeline throws.
    AdaptedRun(Graph& graph, const RunConfig& how, const Topology& topology, Profile profile,
               Schedule schedule);

    /// Throws what executors throw.
    RunReport run(const RunOptions& options, const Follow& follow = {});

    /// Looks at what passed since it last saw enough: from any thread while it runs, by one at a time.
    /// Returns whether that asks for another schedule, or for trials.
    bool look();

    const std::vector<AdaptationChange>& changes() const { return changes_; }
    const Profile& profile() const { return profile_; }
    const Choice::Way& way() const { return way_; }
    const std::vector<std::string>& warnings() const { return warnings_; }

  private:
    using Clock = std::chrono::steady_clock;

    /// Change that a look asks for.
    struct Wish {
        internal::RunCandidate to{};
        double now_us = 0;  // by forecast
        bool is_to_be_tried = false;
        Clock::time_point since = Clock::now();
    };

    Relay::Leg next(const Relay::Done* before);
    void fulfil();
    void end_trials();
    void change_to(const Candidate& to, double before_us, double after_us);
    Relay::Leg go_on();
    void follow(const Choice::Way& way) const;
    Schedule schedule_of(const Choice::Way& way) const;
    std::optional<Wish> wish_for() const;
    std::optional<Wish> other_executor() const;
    double forecast_us(const Choice::Way& way, const internal::RunCandidates& found) const;
    double factor(ExecutorKind executor) const;
    void forget_a_little();

    Graph& graph_;
    const RunConfig how_;
    const AdaptationOptions options_;
    Follow follow_{};
    Relay relay_;
    WayRunners runners_;
    LiveProfile live_;
    RanOnKinds on_kinds_;

    std::atomic<bool> has_wish_{false};
    std::mutex mutex_;  // guards what follows while a run is under way
    Profile profile_;
    Choice::Way way_;
    std::shared_ptr<StretchRunner> runner_;
    std::optional<Wish> wish_{};
    std::optional<StreamTrials> trials_{};
    std::map<ExecutorKind, double> factors_;  // of forecasts, as turns came to
    std::vector<double> bubbles_us_;
    std::vector<AdaptationChange> changes_;
    std::vector<std::string> warnings_;
};

}  // namespace tidemill

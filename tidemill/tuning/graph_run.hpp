#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/tuning/adapt/adaptation.hpp"
#include "tidemill/tuning/choose/run_config.hpp"
#include "tidemill/tuning/profile/platform_here.hpp"
#include "tidemill/tuning/profile/profiler.hpp"

namespace tidemill {

class AutoRun;
class KeepAdapting;
struct ChoiceKey;

/// Whether a schedule uses a device.
struct DeviceDecision {
    std::optional<std::string> device{};  ///< its kind; none: the cores are better alone
    std::string why;                      ///< in one sentence
};

/// One run of a graph as it was asked for: finds a schedule where one is needed, runs the graph by it, and
/// reports how it was done.
///
///     GraphRun run({.scheduling = {.strategy = &strategy("fertac")}, .frames = 1000}, topology);
///     run.prepare([&](const ProfileOptions& how) { return profile(graph, topology, how); });
///     const RunReport report = run.go(graph);
class GraphRun {
  public:
    /// Makes a profile of such a graph as is going to run.
    using MakeProfile = std::function<Profile(const ProfileOptions&)>;
    /// Gets each schedule that is followed from then on, the first one too.
    using Follow = std::function<void(const Schedule&)>;

    /// Throws RunError for wishes that contradict each other.
    GraphRun(RunConfig how, const Topology& topology);

    /// Finds the schedule for this machine's cores, if there is to be one; the graph is profiled only where
    /// that is needed. Throws PlatformError for cores that are not there, and RunError where a profile is
    /// missing.
    void prepare(const MakeProfile& make_profile);

    /// The same for a chain that is known already, on its cores, which need not be this machine's.
    void prepare_for(Profile known);

    /// With automatic: whether the stream is past its beginning, where tasks do other work than later; asked
    /// by the thread that begins frames, while it runs in order. Without, it is at once.
    void is_steady_when(std::function<bool()> is_steady) { is_steady_ = std::move(is_steady); }

    /// Runs the graph; throws what its executor throws, and ScheduleError for a file's schedule that this
    /// machine has no cores for.
    RunReport go(Graph& graph, RunOptions options = {}, const Follow& follow = {});

    const RunConfig& how() const { return how_; }
    /// Executor of the graph; after go() with automatic, the chosen one, or, where the stream ended before,
    /// the last one that ran.
    ExecutorKind executor() const { return executor_; }
    /// With automatic, after go(): what was chosen; nothing where the stream ended before.
    const std::optional<Choice>& choice() const { return choice_; }
    const std::optional<Profile>& profile() const { return profile_; }
    /// By which the profile's weights predict what the schedule does: as was wanted, with the far cuts that
    /// were found.
    const CostModel& model() const { return model_; }
    const std::optional<Schedule>& schedule() const { return schedule_; }
    const std::vector<AdaptationChange>& changes() const { return changes_; }

    /// Has tokens that a device takes lie there: before go().
    void use_token_memory(std::shared_ptr<TokenMemory> memory) { how_.token_memory = std::move(memory); }

    /// Where the profile has devices: whether the schedule uses one, and why. Each counts as one core.
    const std::optional<DeviceDecision>& device_decision() const { return device_decision_; }

    /// By the profile and the model, or else what the given schedule says itself.
    std::optional<double> predicted_period_us() const;

    /// The same with its interval, where weights were measured; and after go() how it fared: microseconds a
    /// source frame under the schedule that it was made for.
    const std::optional<Forecast>& forecast() const { return forecast_; }
    double forecast_came_to_us() const { return came_to_us_; }

    /// Events that the user should know of.
    const std::vector<std::string>& warnings() const { return warnings_; }

  private:
    void choose_near_schedule();
    void choose_schedule();
    void make_batches_wait_less(const Platform& cores);
    void predict();
    double batch_wait_us() const;
    PipelineOptions pipeline_options();
    void tell_best(RunReport& report, const Schedule& schedule, const Profile& profile) const;
    RunReport run_by_executor(Graph& graph, const RunOptions& options, const Follow& follow);
    RunReport run_pipeline(Graph& graph, const RunOptions& options, const Follow& follow);
    RunReport run_adapted(Graph& graph, const RunOptions& options, const Follow& follow);
    void finish(KeepAdapting& looks);
    RunReport run_dynamic(Graph& graph, const RunOptions& options) const;
    RunReport run_auto(Graph& graph, const RunOptions& options, const Follow& follow);
    void start_as_before(AutoRun& run, const ChoiceKey& key);
    void remember(const AutoRun& run, const ChoiceKey& key);

    RunConfig how_;
    ExecutorKind executor_{};
    const Topology& topology_;
    std::optional<Profile> profile_{};
    std::optional<Schedule> schedule_{};
    CostModel model_{};
    std::optional<DeviceDecision> device_decision_{};
    std::function<bool()> is_steady_{};
    std::optional<Choice> choice_{};
    std::optional<Forecast> forecast_{};
    double came_to_us_ = 0;
    std::vector<AdaptationChange> changes_{};
    std::vector<std::string> warnings_{};
};

}  // namespace tidemill

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/execute/relay.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/tuning/choose/frame_pace.hpp"
#include "tidemill/tuning/choose/run_candidates.hpp"
#include "tidemill/tuning/choose/run_config.hpp"
#include "tidemill/tuning/choose/stream_trials.hpp"
#include "tidemill/tuning/choose/way_runners.hpp"
#include "tidemill/tuning/profile/weight_log.hpp"

namespace tidemill {

/// Runs a graph by whatever is fastest here: in order, stages by a schedule, a thread per task, or dynamic
/// workers. It begins in order, and weighs the tasks meanwhile; so a short stream is done before anything
/// else is tried. Then by forecast first, and what could be best takes turns on the stream itself. Where the
/// source sets the pace, the turns are compared by the thread that takes most of its core for a frame.
class AutoRun {
  public:
    /// Whether the stream is past its beginning, where tasks do other work than
    /// later; empty: it is at once.
    using IsSteady = std::function<bool()>;
    using Follow = std::function<void(const Schedule&)>;

    /// Throws GraphError when the graph is faulty, PlatformError for cores that are not there. The cores of
    /// `how` are those that may be used.
    AutoRun(Graph& graph, const RunConfig& how, const Topology& topology, IsSteady is_steady = {});
    ~AutoRun();

    /// Starts with what was chosen at another time. Throws what the executor throws that cannot be made of
    /// it.
    void start_with(const Choice& choice);

    /// Throws what the executors throw.
    RunReport run(const RunOptions& options, const Follow& follow = {});

    /// The choice; in order and nothing else where the stream ended before.
    const Choice& choice() const { return choice_; }
    bool has_chosen() const { return phase_ == Phase::chosen; }
    /// How the last stretch ran: as was chosen, or, where the stream ended before, in a trial or in order.
    const Choice::Way& last_way() const { return last_way_; }

    const std::optional<Profile>& profile() const { return profile_; }
    /// Far cuts of the kinds whose cores were found to be in clusters; nothing where nobody looked.
    const std::vector<FarCuts>& far_cuts() const { return how_.scheduling.model.far_cuts; }
    const std::vector<std::string>& warnings() const { return warnings_; }
    /// Microseconds a source frame under what was chosen; 0 where it began none.
    double chosen_period_us() const { return last_period_us_; }

  private:
    enum class Phase : std::uint8_t { starting, weighing, trying, chosen };

    Relay::Leg next(const Relay::Done* before);
    Relay::Leg in_order_for(double seconds, std::uint64_t frames);
    Relay::Leg weigh_next_kind();
    void skip_unused_kinds();
    void add_weights(const RunReport& report);
    void find_candidates();
    internal::RunCandidates ways_for(const Profile& profile);
    std::vector<internal::RunCandidate> also_by_work(const std::vector<internal::RunCandidate>& others);
    void make_runners();
    bool pays_to_try() const;
    Relay::Leg try_next();
    Relay::Leg choose(const Candidate& chosen);
    void stay_in_order_if_no_slower();
    Relay::Leg go_on();
    void follow(const Choice::Way& way);

    Graph& graph_;
    RunConfig how_;
    const Topology& topology_;
    IsSteady is_steady_;
    Follow follow_{};
    Relay relay_;
    WayRunners runners_;
    Phase phase_ = Phase::starting;
    std::uint64_t frames_wanted_ = kEndless;
    std::unique_ptr<WeightLog> log_;
    std::size_t kind_ = 0;            // that is weighed
    double in_order_us_ = 0;          // by the weights
    double in_order_came_to_us_ = 0;  // by the clock
    std::optional<Profile> profile_{};
    Profile work_{};      // the same without what sources wait for
    double pace_us_ = 0;  // that is, a frame
    std::vector<Candidate> candidates_;
    std::optional<StreamTrials> trials_{};
    std::shared_ptr<internal::FramePace> pace_;
    std::shared_ptr<internal::FirstFrames> first_frames_;
    Choice choice_{};
    Choice::Way last_way_{};
    std::shared_ptr<StretchRunner> chosen_;
    double last_period_us_ = 0;
    std::vector<std::string> warnings_;
};

}  // namespace tidemill

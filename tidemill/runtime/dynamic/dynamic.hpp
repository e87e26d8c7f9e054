#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/machine/pu_set.hpp"
#include "tidemill/runtime/execute/executor.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {

namespace bridge {
struct Emulation;
}

/// Kinds of cores by module ("demapper") or task ("demapper.run").
using KindsByName = std::map<std::string, policy::KindSet>;

/// Makes a policy for workers on cores of these kinds. Called anew when a run begins, and when it goes on
/// after a pause; the policy gets task types by the numbers of the structure's units, and called by one
/// thread at a time. What it throws ends the run at once, frames in flight are lost, and run() throws it.
using MakePolicy =
    std::function<std::unique_ptr<policy::Policy>(std::span<const policy::KindId> kind_of_worker)>;

/// How tasks are scheduled while they run.
struct DynamicOptions {
    std::size_t workers = 2;
    std::string policy = "gpriority";  ///< or a list of them, see policy::make_policy()
    MakePolicy make_policy{};          ///< one of one's own instead: tidemill/scheduling/dynamic/policy.hpp
    /// How much may be in flight at once; it says how many tokens there are. Without any limit: as many
    /// frames as fit into a MiB, but at least two per worker and two more, and at most 64.
    policy::Window window{};
    WaitMode waiting = WaitMode::mixed;  ///< for work
    std::vector<PuSet> cores{};          ///< per worker; empty: not pinned
    /// The kind of each worker's core; empty: all are of kind 0.
    std::vector<policy::KindId> kinds{};
    std::vector<std::string> kind_names{};  ///< for reports; those beyond are called by their numbers
    /// Where workers are of several kinds, each gets the tasks that its kind is good at, by times that are
    /// learned meanwhile; false: any that are ready.
    bool places = true;
    /// Microseconds of a call of units on each kind, by their names in the structure, where they are known
    /// ahead; 0 where not.
    std::map<std::string, std::vector<double>> known_us{};
    bool explores = true;  ///< now and then a task is tried where it is not at home, for 1 % of the work
    /// Named kinds on which every call is made longer, to try what this machine has not; null: all are real.
    std::shared_ptr<const bridge::Emulation> emulation{};
    /// Modules or single tasks, "module.task", that run on some kinds of cores only; a bit for each kind.
    KindsByName only{};
    /// Tasks that cost less are handed out several at a time, up to this much work, and up to twice as much
    /// where a worker goes on with the same frames; 0: always one by one, and the policy is obeyed to the
    /// letter.
    std::chrono::nanoseconds bundle{8000};
    policy::Adapting adapting{};  ///< of the adaptive policies
};

/// Runs a graph by tasks, each one unit on one frame: workers take those that are ready, as a policy says.
/// For streams whose costs nobody knows ahead. Every frame, number and byte is the same as under Sequence.
class Dynamic : public Executor {
  public:
    /// Throws GraphError when the graph is faulty, cannot be replicated, does not fit the window, or has a
    /// task that no worker may run; PolicyError when there is no such policy.
    explicit Dynamic(Graph& graph, DynamicOptions options = {});

    /// Per segment, how many frames may be in flight.
    std::vector<std::uint32_t> tokens() const;
};

}  // namespace tidemill

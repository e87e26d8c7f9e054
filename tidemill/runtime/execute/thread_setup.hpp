#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/report/durations.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/runtime/threads/thread_pin.hpp"
#include "tidemill/runtime/threads/thread_pool.hpp"

namespace tidemill {

/// How a thread is set up that runs a graph: the cores that it is pinned to, and its own clones of
/// modules.
class ThreadSetup {
  public:
    /// To the index-th of `cores`; where there are none, it stays unpinned.
    ThreadSetup(const std::vector<PuSet>& cores, std::size_t index) : pin_(cores, index) {}

    ThreadPin& pin() { return pin_; }

    /// Puts clones into the places of those `modules`, by the graph's indices, of which `steps` need one for
    /// each thread and which are still the graph's own.
    void clone_for(std::span<const Step> steps, const Graph& graph, std::vector<Module*>& modules);
    /// Adds the clones' totals to those of the graph's modules; once. Throws ModuleError for the first whose
    /// merge() throws, when all have been merged.
    void merge_clones();

    ThreadReport report(std::uint64_t work_ticks, const Durations& pull_waits,
                        const Durations& push_waits) const;

  private:
    struct Clone {
        Module* original;
        std::unique_ptr<Module> copy;
    };

    ThreadPin pin_;
    std::vector<Clone> clones_;
};

/// The graph's own modules, by their indices.
std::vector<Module*> modules_of(const Graph& graph);

/// Has a thread for each setup, pinned as that says, settle in, and work when all have: a module must not
/// change while another thread copies it. A single one that is not pinned is the calling thread. Throws what
/// settling in has thrown; then nobody has worked. `halt` makes the work end soon, from any thread.
void run_set_up(ThreadPool& pool, const std::vector<ThreadSetup*>& setups,
                const std::function<void(std::size_t)>& settle, const std::function<void(std::size_t)>& work,
                const std::function<void()>& halt);

}  // namespace tidemill

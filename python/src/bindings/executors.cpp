#include "bindings/executors.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "bindings/errors.hpp"
#include "bindings/graph_binding.hpp"
#include "bindings/interpreter.hpp"
#include "bindings/json_object.hpp"
#include "bindings/python_policy.hpp"
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "tidemill/apps/running/insight.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/observe/trace.hpp"
#include "tidemill/tuning/profile/profiler.hpp"

namespace tidemill::python {

namespace {

using nb::literals::operator""_a;

using Clock = std::chrono::steady_clock;
/// Module, name, and the new value.
using KnobAsTuple = std::tuple<std::size_t, std::string, double>;

/// When a run ends, as Python says it.
struct RunRequests {
    std::optional<std::uint64_t> frames;
    std::optional<double> seconds;
    bool statistics;
    bool finish;
    std::optional<std::filesystem::path> trace;
};

/// An executor with what it needs of Python: made and ended without the lock, since its threads may want it.
class Held {
  public:
    template <class Make>
    Held(PythonGraph& graph, Make make) : graph_(graph) {
        const Unlocked unlocked;
        executor_ = make(graph.graph());
        runs_here_ = dynamic_cast<Sequence*>(&*executor_) != nullptr;
    }
    ~Held() {
        if (process_.is_other()) {  // its threads are not here, and would be waited for
            static_cast<void>(executor_.release());
            return;
        }
        const Unlocked unlocked;
        executor_.reset();
    }

    nb::dict go(const RunRequests& wishes, bool anew);

    /// Turns knobs on the next source frame, or on that one; the frame from which on that holds.
    std::uint64_t set(const std::vector<KnobAsTuple>& knobs, std::optional<std::uint64_t> from);
    /// Ends the run that is going on, if one is; from any thread.
    void stop();
    /// Ends a run when the policy, by which the executor was made, raises something, and throws that.
    void heed(std::shared_ptr<PythonPolicy> policy) { policy_ = std::move(policy); }

    Executor& executor() { return *executor_; }

  private:
    RunReport go(const RunOptions& options, bool anew) {
        return anew ? executor_->run(options) : executor_->resume(options);
    }
    void end_when_policy_fails(RunOptions& options);
    RunReport go_here(RunOptions& options, bool anew, std::stop_source& stop);
    RunReport go_on_threads(RunOptions& options, bool anew, std::stop_source& stop);

    PythonGraph& graph_;
    std::mutex mutex_;
    std::stop_source stop_;  // of the run that is going on
    std::unique_ptr<Executor> executor_;
    bool runs_here_;                        // in the calling thread
    std::shared_ptr<PythonPolicy> policy_;  // null where it is not Python's
    ProcessOfThreads process_;
};

std::function<bool()> over_after(const std::optional<double>& seconds) {
    if (!seconds) return {};
    const auto end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
    return [end] { return Clock::now() >= end; };
}

nb::dict Held::go(const RunRequests& wishes, bool anew) {
    process_.check("the executor");
    RunOptions options{.statistics = wishes.statistics, .finish = wishes.finish};
    if (wishes.frames) options.frames = *wishes.frames;
    options.stop_when = over_after(wishes.seconds);
    if (policy_) end_when_policy_fails(options);
    std::stop_source stop;
    options.stop = stop.get_token();
    const PythonGraph::Running running(graph_);
    {
        const std::lock_guard lock(mutex_);
        stop_ = stop;
    }
    std::optional<Trace> trace;
    if (wishes.trace) {
        cli::check_writable(*wishes.trace);
        options.observers.push_back(&trace.emplace());
    }
    const RunReport report = runs_here_ ? go_here(options, anew, stop) : go_on_threads(options, anew, stop);
    if (policy_) policy_->rethrow();
    if (trace) trace->write(*wishes.trace);
    return to_dict(json_of(report));
}

// Dynamic asks where it asks for ranks, too: one thread at a time.
void Held::end_when_policy_fails(RunOptions& options) {
    policy_->forget_failure();
    options.stop_when = [this, over = std::move(options.stop_when)] {
        return policy_->has_failed() || (over && over());
    };
}

void Held::stop() {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
}

std::uint64_t Held::set(const std::vector<KnobAsTuple>& knobs, std::optional<std::uint64_t> from) {
    KnobSettings settings;
    if (from) settings.from = From{*from};
    {
        const nb::ft_object_guard alone(nb::find(graph_));
        for (const auto& [module, name, value] : knobs) {
            const auto knob = graph_.graph().module(module).find_knob<double>(name);
            settings.settings.push_back({{knob.module, knob.index}, internal::knob_bytes(value)});
        }
    }
    const Unlocked unlocked;
    return executor_->set(settings).frame;
}

// In the calling thread, where a task may want to be.
RunReport Held::go_here(RunOptions& options, bool anew, std::stop_source& stop) {
    const LiveRun live(stop);
    SignalWatch signals;
    const auto over = std::exchange(options.stop_when, {});
    options.stop_when = [&] { return signals.raised() || (over && over()); };
    RunReport report;
    {
        const Unlocked unlocked;
        report = go(options, anew);
    }
    signals.rethrow();
    return report;
}

RunReport Held::go_on_threads(RunOptions& options, bool anew, std::stop_source& stop) {
    RunReport report;
    do_interruptibly(
        stop, [&] { report = go(options, anew); }, [&] { graph_.interrupt_tasks(); });
    return report;
}

// With a policy by its name, or one of Python's, which is asked before each task.
std::unique_ptr<Held> make_dynamic(PythonGraph& graph, std::size_t workers, const nb::object& policy) {
    DynamicOptions options{.workers = workers};
    std::shared_ptr<PythonPolicy> own;
    if (!nb::try_cast(policy, options.policy)) {
        own = std::make_shared<PythonPolicy>(policy, unit_names(graph.graph()));
        options.make_policy = [own](std::span<const policy::KindId> kinds) { return own->policy(kinds); };
        options.bundle = {};
    }
    auto held =
        std::make_unique<Held>(graph, [&](Graph& of) { return std::make_unique<Dynamic>(of, options); });
    held->heed(std::move(own));
    return held;
}

PipelineOptions pipeline_options(bool pinned, std::size_t ring_depth, std::uint32_t batch) {
    static const Topology topology = Topology::here();
    PipelineOptions options{.ring_depth = ring_depth, .frames = batch};
    if (pinned) {
        options.topology = &topology;
        options.waiting = WaitMode::mixed;
    }
    return options;
}

Profile profile_graph(PythonGraph& graph, std::optional<std::uint64_t> frames, double seconds,
                      const std::optional<std::string>& cores) {
    ProfileOptions options{.frames = frames, .seconds = seconds};
    if (cores) options.cores = parse_platform(*cores);
    Profile found;
    const PythonGraph::Running running(graph);
    do_up_to_interruption([&] { found = profile(graph.graph(), options); }, [&] { graph.interrupt_tasks(); });
    return found;
}

}  // namespace

void bind_executors(nb::module_& module) {
    const auto go = [](bool anew) {
        return [anew](Held& self, std::optional<std::uint64_t> frames, std::optional<double> seconds,
                      bool statistics, bool finish, std::optional<std::filesystem::path> trace) {
            return self.go({frames, seconds, statistics, finish, std::move(trace)}, anew);
        };
    };
    nb::class_<Held>(module, "Executor")
        .def("run", go(true), nb::kw_only(), "frames"_a = nb::none(), "seconds"_a = nb::none(),
             "statistics"_a = true, "finish"_a = false, "trace"_a = nb::none())
        .def("resume", go(false), nb::kw_only(), "frames"_a = nb::none(), "seconds"_a = nb::none(),
             "statistics"_a = true, "finish"_a = false, "trace"_a = nb::none())
        .def("set", &Held::set, "knobs"_a, "at"_a.none())
        .def("stop", &Held::stop)
        .def(
            "reschedule",
            [](Held& self, const Schedule& schedule) {
                const Unlocked unlocked;
                dynamic_cast<Pipeline&>(self.executor()).reschedule(schedule);
            },
            "schedule"_a);
    module.def(
        "sequence",
        [](PythonGraph& graph) {
            return std::make_unique<Held>(graph, [](Graph& of) { return std::make_unique<Sequence>(of); });
        },
        "graph"_a, nb::keep_alive<0, 1>());
    module.def(
        "pipeline",
        [](PythonGraph& graph, const Schedule& schedule, bool pinned, std::size_t ring_depth,
           std::uint32_t batch) {
            const PipelineOptions options = pipeline_options(pinned, ring_depth, batch);
            return std::make_unique<Held>(
                graph, [&](Graph& of) { return std::make_unique<Pipeline>(of, schedule, options); });
        },
        "graph"_a, "schedule"_a, nb::kw_only(), "pinned"_a, "ring_depth"_a, "batch"_a,
        nb::keep_alive<0, 1>());
    module.def("dynamic", &make_dynamic, "graph"_a, nb::kw_only(), "workers"_a, "policy"_a,
               nb::keep_alive<0, 1>());
    module.def("profile", &profile_graph, "graph"_a, nb::kw_only(), "frames"_a.none(), "seconds"_a,
               "cores"_a.none());
}

}  // namespace tidemill::python

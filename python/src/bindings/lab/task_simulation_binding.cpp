#include "bindings/lab/task_simulation_binding.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/interpreter.hpp"
#include "bindings/python_policy.hpp"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "tidemill/lab/sim/profile_stream.hpp"
#include "tidemill/lab/sim/task_programs.hpp"
#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"

namespace tidemill::python {

namespace {

using nb::literals::operator""_a;

/// Worker, task type, iteration, begin and end in microseconds.
using RanAsTuple = std::tuple<std::uint32_t, std::string, std::uint64_t, double, double>;

/// A program of tasks, and the workers and the scheduling that go with it.
struct SimulatedProgram {
    std::unique_ptr<TaskProgram> program{};
    TaskMachine machine{};
    TaskScheduling scheduling{};
};

SimulatedProgram named_program(const std::string& name, unsigned workers, std::uint64_t iterations) {
    SimulatedProgram made;
    made.program = make_task_program(name, {.iterations = iterations, .workers = workers});
    made.machine.speeds.assign(workers, 1);
    return made;
}

SimulatedProgram profiled_program(const Profile& profile, const std::optional<std::string>& cores,
                                  std::uint64_t iterations) {
    constexpr std::uint64_t kIterations = 600;
    std::vector<std::string> kinds;
    std::vector<int> counts;
    for (const CoreCount& kind : (cores ? parse_platform(*cores) : profile.cores).kinds()) {
        if (kind.count == 0) continue;
        kinds.push_back(kind.kind);
        counts.push_back(kind.count);
    }
    if (kinds.empty())
        throw ScheduleError("the profile names no cores: give for instance cores={\"big\": 4}");
    const ProfileStream stream = profile_stream(profile, kinds);
    SimulatedProgram made;
    made.program = stream_program(stream.graph, iterations > 0 ? iterations : kIterations);
    made.scheduling.placing = Placing::learned;
    stream.put_into(counts, made.machine, made.scheduling);
    return made;
}

nb::dict to_dict(const SimulatedTasks& report, const TaskMachine& machine, double period_us) {
    double speed = 0;
    for (const double each : machine.speeds) speed += each;
    nb::dict told;
    told["tasks"] = report.tasks;
    told["workers"] = report.workers;
    told["period_us"] = period_us;
    told["makespan_us"] = report.makespan_us;
    told["work_us"] = report.work_us;
    told["efficiency"] = report.efficiency(speed);
    told["utilisation"] = report.utilisation;
    told["mean_latency_us"] = report.mean_latency_us;
    told["most_latency_us"] = report.most_latency_us;
    told["peak_tasks"] = report.peak_tasks;
    told["peak_bytes"] = report.peak_bytes;
    return told;
}

// Mean of all iterations but the first quarter, while the program gets going.
double period_us(std::vector<double> ends_us) {
    if (ends_us.empty()) return 0;
    std::ranges::sort(ends_us);
    const std::size_t from = ends_us.size() / 4;
    if (from + 1 >= ends_us.size()) return ends_us.back() / static_cast<double>(ends_us.size());
    return (ends_us.back() - ends_us[from]) / static_cast<double>(ends_us.size() - 1 - from);
}

/// Kept records of the tasks that ran.
struct RanTasks {
    std::vector<RanAsTuple> drawn{};
    std::vector<double> ends_us{};  // of iterations

    void add(const RanTask& task, const std::string& type, std::uint64_t drawn_iterations) {
        if (task.iteration < drawn_iterations)
            drawn.emplace_back(task.worker, type, task.iteration, task.begin_us, task.end_us);
        if (task.iteration >= ends_us.size()) ends_us.resize(task.iteration + 1);
        ends_us[task.iteration] = std::max(ends_us[task.iteration], task.end_us);
    }
};

// With a policy by its name, or one of Python's.
nb::tuple run(SimulatedProgram made, const nb::object& wanted, const policy::Window& window, double noise,
              std::uint64_t seed, std::uint64_t drawn) {
    made.machine.noise = noise;
    made.machine.seed = seed;
    made.scheduling.window = window;
    std::vector<policy::KindId> kinds = made.machine.kinds;
    kinds.resize(made.machine.speeds.size());
    std::optional<PythonPolicy> own;
    std::unique_ptr<policy::Policy> own_policy;
    if (!nb::try_cast(wanted, made.scheduling.policy)) {
        own.emplace(wanted, made.program->types());
        own_policy = own->policy(kinds);
        made.scheduling.made = own_policy.get();
    }
    RanTasks ran;
    SimulatedTasks report;
    do_up_to_interruption([&] {
        report = simulate_tasks(*made.program, made.machine, made.scheduling, [&](const RanTask& task) {
            if (own) own->rethrow();
            ran.add(task, made.program->types()[task.type], drawn);
        });
    });
    if (own) own->rethrow();
    return nb::make_tuple(to_dict(report, made.machine, period_us(std::move(ran.ends_us))),
                          nb::cast(std::move(ran.drawn)));
}

}  // namespace

void bind_task_simulation(nb::module_& module) {
    module.def(
        "simulate_program",
        [](const std::string& name, unsigned workers, std::uint64_t iterations, const nb::object& policy,
           std::uint64_t window, double noise, std::uint64_t seed, std::uint64_t drawn) {
            return run(named_program(name, workers, iterations), policy, {.iterations = window}, noise, seed,
                       drawn);
        },
        "name"_a, nb::kw_only(), "workers"_a, "iterations"_a, "policy"_a, "window"_a, "noise"_a, "seed"_a,
        "drawn"_a);
    module.def(
        "simulate_profile",
        [](const Profile& profile, const std::optional<std::string>& cores, std::uint64_t iterations,
           const nb::object& policy, std::uint64_t window, double noise, std::uint64_t seed,
           std::uint64_t drawn) {
            return run(profiled_program(profile, cores, iterations), policy, {.iterations = window}, noise,
                       seed, drawn);
        },
        "profile"_a, nb::kw_only(), "cores"_a.none(), "iterations"_a, "policy"_a, "window"_a, "noise"_a,
        "seed"_a, "drawn"_a);
    module.def("task_programs", [] {
        std::vector<std::tuple<std::string, std::string>> all;
        for (const TaskProgramName& each : task_programs()) all.emplace_back(each.name, each.summary);
        return all;
    });
}

}  // namespace tidemill::python

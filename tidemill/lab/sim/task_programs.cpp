#include "tidemill/lab/sim/task_programs.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tidemill/lab/sim/access_program.hpp"
#include "tidemill/lab/sim/streamit.hpp"
#include "tidemill/lab/sim/task_graphs.hpp"
#include "tidemill/lab/sim/worst_cases.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {

namespace {

constexpr double kUnitUs = 1000;

struct WorstCase {
    TaskProgramName named;
    StreamGraph (*make)(unsigned workers, unsigned unroll);
};

constexpr std::array kWorstCases{
    WorstCase{{"fig4.6a", "exhaustion of oldest, fifo and lifo"},
              [](unsigned p, unsigned) { return worst_case::exhaustion(p, false, kUnitUs); }},
    WorstCase{{"fig4.6b", "exhaustion of botlev and crit"},
              [](unsigned p, unsigned f) { return worst_case::exhaustion_in_parts(p, f, kUnitUs); }},
    WorstCase{{"fig4.7a", "poor back pressure of toplev"},
              [](unsigned p, unsigned f) { return worst_case::slow_end(p, f, kUnitUs); }},
    WorstCase{{"fig4.7b", "poor back pressure of botlev, mdesc and crit"},
              [](unsigned p, unsigned f) { return worst_case::slow_join(p, f, kUnitUs); }},
    WorstCase{{"fig4.7d", "poor back pressure of lifo and mchild"},
              [](unsigned p, unsigned) { return worst_case::slow_pipeline(p, kUnitUs); }},
    WorstCase{{"fig4.8", "poor back pressure of oldest"},
              [](unsigned p, unsigned) { return worst_case::stolen_type(p, kUnitUs); }},
    WorstCase{{"fig4.11", "exhaustion where the cure must not be undone"},
              [](unsigned p, unsigned) { return worst_case::exhaustion_joined(p, kUnitUs); }},
    WorstCase{{"fig4.12", "exhaustion whose cure is to raise what the bottleneck waits for"},
              [](unsigned p, unsigned) { return worst_case::exhaustion_behind(p, kUnitUs); }},
};

constexpr std::array kGraphs{
    TaskProgramName{"check-lu", "sparse LU factorisation, and the product compared"},
    TaskProgramName{"cholesky", "Cholesky factorisation"},
    TaskProgramName{"h264", "an H.264 decoder's skeleton with the 3-D wave"},
};

struct AccessCase {
    TaskProgramName named;
    std::unique_ptr<TaskProgram> (*make)(const TaskProgramSize& size, std::uint64_t iterations);
};

constexpr std::array kAccessCases{
    AccessCase{{"pairs", "particles in pairs that update both of their forces"},
               [](const TaskProgramSize& s, std::uint64_t n) { return pairs(PairsBy::update, s.blocks, n); }},
    AccessCase{
        {"pairs-commutative", "the same, the updates in any order"},
        [](const TaskProgramSize& s, std::uint64_t n) { return pairs(PairsBy::commutation, s.blocks, n); }},
    AccessCase{
        {"pairs-reduction", "the same, in copies that are combined"},
        [](const TaskProgramSize& s, std::uint64_t n) { return pairs(PairsBy::reduction, s.blocks, n); }},
    AccessCase{{"buffer", "one buffer that is filled and looked at, over and over"},
               [](const TaskProgramSize&, std::uint64_t n) { return buffer(false, n); }},
    AccessCase{{"buffer-renamed", "the same, each filling in memory of its own"},
               [](const TaskProgramSize&, std::uint64_t n) { return buffer(true, n); }},
};

std::unique_ptr<TaskProgram> make_graph(std::string_view name, const TaskProgramSize& size) {
    if (name == "check-lu") return check_lu(size.blocks);
    if (name == "cholesky") return cholesky(size.blocks);
    return h264(size.iterations > 0 ? size.iterations : 25);
}

StreamGraph streamit_stream(std::string_view name, const TaskProgramSize& size) {
    StreamGraph graph = streamit_graph(name, size.work_unit_us > 0 ? size.work_unit_us : 1);
    if (size.coarse) graph = one_firing_per_iteration(std::move(graph));
    return size.work_unit_us > 0 ? graph : with_mean_task(std::move(graph), size.task_us);
}

std::unique_ptr<TaskProgram> stream_of(StreamGraph graph, const TaskProgramSize& size) {
    // Fewer are over before a window of some has settled.
    constexpr std::uint64_t kLeastIterations = 60;
    std::uint64_t iterations = size.iterations;
    if (iterations == 0) iterations = std::max(kLeastIterations, size.tasks / graph.tasks());
    return stream_program(std::move(graph), iterations);
}

[[noreturn]] void refuse_program(std::string_view name) {
    std::string known;
    for (const TaskProgramName& each : task_programs()) {
        known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
    }
    throw ScheduleError(fmt::format("'{}' is not a program of tasks; take one of {}", name, known));
}

}  // namespace

std::vector<TaskProgramName> task_programs() {
    std::vector<TaskProgramName> all;
    for (const std::string_view name : streamit_names()) all.push_back({name, "a StreamIt benchmark"});
    all.insert(all.end(), kGraphs.begin(), kGraphs.end());
    for (const AccessCase& each : kAccessCases) all.push_back(each.named);
    for (const WorstCase& each : kWorstCases) all.push_back(each.named);
    return all;
}

StreamGraph with_mean_task(StreamGraph graph, double task_us) {
    const double factor = task_us * static_cast<double>(graph.tasks()) / graph.work_us();
    for (StreamTaskType& type : graph.types) type.work_us *= factor;
    return graph;
}

std::unique_ptr<TaskProgram> make_task_program(std::string_view name, const TaskProgramSize& size) {
    if (std::ranges::count(streamit_names(), name) > 0) {
        return stream_of(streamit_stream(name, size), size);
    }
    if (std::ranges::count(kGraphs, name, &TaskProgramName::name) > 0) return make_graph(name, size);
    for (const AccessCase& each : kAccessCases) {
        constexpr std::uint64_t kIterations = 25;
        if (each.named.name == name)
            return each.make(size, size.iterations > 0 ? size.iterations : kIterations);
    }
    const auto* found =
        std::ranges::find(kWorstCases, name, [](const WorstCase& each) { return each.named.name; });
    if (found == kWorstCases.end()) refuse_program(name);
    if (size.workers < 2) throw ScheduleError(fmt::format("{} needs at least two workers", name));
    return stream_of(found->make(size.workers, size.unroll), size);
}

}  // namespace tidemill

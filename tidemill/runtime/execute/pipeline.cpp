#include "tidemill/runtime/execute/pipeline.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tidemill/machine/pinning.hpp"
#include "tidemill/runtime/execute/engine.hpp"
#include "tidemill/runtime/execute/pipeline_cut.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {

namespace {

std::vector<std::string> node_list_of(const CoreResource& resource) {
    std::vector<std::string> list;
    for (const NodeRange& range : resource.nodes) list.push_back(to_string(range));
    return list;
}

StagePlacement placement_of(const Schedule& schedule, std::size_t s, const CoreCount& cores,
                            const Topology& topology) {
    const Stage& stage = schedule.stages[s];
    StagePlacement placement;
    placement.threads = static_cast<std::size_t>(cores.count);
    placement.number = s + 1;
    placement.pinning = stage.pinning;
    placement.shares_core = stage.shares_core;
    for (const CoreResource& resource : schedule.resources) {
        if (resource.kind != cores.kind) continue;
        placement.nodes = node_list_of(resource);
        placement.smt = static_cast<std::size_t>(resource.smt);
        placement.cluster_size = static_cast<std::size_t>(resource.cluster_size.value_or(0));
    }
    if (placement.nodes.empty() && placement.pinning != Pinning::kLoose) {
        placement.kind = topology.kind_index(cores.kind);
    }
    return placement;
}

/// The threads of a stage on one kind of cores that want a place: those that no stage before it owns.
struct Placed {
    CoreCount cores;
    std::vector<std::size_t> threads;
};

std::vector<Placed> to_be_placed(const Stage& stage, std::set<Owner>& placed) {
    std::vector<Placed> kinds;
    for (std::size_t thread = 0; thread < static_cast<std::size_t>(stage.threads); ++thread) {
        const std::string& kind = stage.kind_of(thread);
        if (!stage.owners.empty() && !placed.insert({kind, stage.owners[thread]}).second) continue;
        auto found = std::ranges::find(kinds, kind, [](const Placed& of) { return of.cores.kind; });
        if (found == kinds.end()) found = kinds.insert(found, Placed{{kind, 0}, {}});
        ++found->cores.count;
        found->threads.push_back(thread);
    }
    return kinds;
}

// [stage][thread]. A mixed stage is placed kind by kind, and its threads take the cores of theirs in turn.
std::vector<std::vector<PuSet>> cores_of_threads(const Schedule& schedule, const Topology& topology) {
    std::set<Owner> owners;
    std::vector<std::vector<Placed>> wanted;
    std::vector<StagePlacement> placements;
    for (std::size_t s = 0; s < schedule.stages.size(); ++s)
        for (const Placed& kind : wanted.emplace_back(to_be_placed(schedule.stages[s], owners)))
            placements.push_back(placement_of(schedule, s, kind.cores, topology));
    std::vector<std::vector<PuSet>> placed = place_threads(topology, placements);
    std::vector<std::vector<PuSet>> of_stages;
    auto next = placed.begin();
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        of_stages.emplace_back(static_cast<std::size_t>(schedule.stages[s].threads));
        for (const Placed& kind : wanted[s]) {
            for (std::size_t i = 0; i < kind.threads.size(); ++i)
                of_stages[s][kind.threads[i]] = std::move((*next)[i]);
            ++next;
        }
    }
    for (const auto& [owner, seats] : schedule.owners())
        for (const Seat& seat : seats)
            of_stages[seat.stage][seat.thread] = of_stages[seats.front().stage][seats.front().thread];
    return of_stages;
}

// Numbered in the order of their names.
void set_owners(const Schedule& schedule, EngineCut& cut) {
    std::size_t number = 0;
    for (const auto& [owner, seats] : schedule.owners()) {
        for (const auto& [stage, thread] : seats) {
            cut.stages[stage].owners.resize(cut.stages[stage].cut.threads);
            cut.stages[stage].owners[thread] = number;
        }
        ++number;
    }
}

// A schedule is made for a chain: the graph's units must be that chain.
void check_names(const Schedule& schedule, const Structure& structure) {
    if (schedule.task_count() != structure.units.size()) {
        throw ScheduleError(
            fmt::format("the schedule is for {} tasks, the graph has {}: make a new schedule from a "
                        "profile of this graph",
                        schedule.task_count(), structure.units.size()));
    }
    for (std::size_t i = 0; i < schedule.task_names.size(); ++i) {
        if (schedule.task_names[i] == structure.units[i].name) continue;
        throw ScheduleError(
            fmt::format("the schedule is for another graph: its task {} is '{}', here it is '{}'; make "
                        "a new schedule from a profile of this graph",
                        i + 1, schedule.task_names[i], structure.units[i].name));
    }
}

// Tasks that a stage has on a device take its batches one after the other, and each has several under way:
// each on a thread of its own, which mostly sleeps.
Schedule with_threads_for_batches(const Schedule& schedule) {
    Schedule apart = schedule;
    apart.stages.clear();
    for (const Stage& stage : schedule.stages) {
        const std::size_t parts = stage.batch ? stage.task_count : 1;
        for (std::size_t part = 0; part < parts; ++part) {
            Stage& made = apart.stages.emplace_back(stage);
            made.first_task = stage.first_task + part;
            made.task_count = stage.task_count / parts;
        }
    }
    return apart;
}

}  // namespace

EngineCut cut_of(const Graph& graph, const Schedule& whole, const PipelineOptions& options) {
    check_names(whole, structure_of(graph));
    const Schedule schedule = with_threads_for_batches(whole);
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) check_word(schedule.stages[s], s + 1);
    check_owners(schedule);
    check_frames_in_flight(schedule);
    std::vector<std::vector<PuSet>> cores(schedule.stages.size());
    if (options.topology) cores = cores_of_threads(schedule, *options.topology);
    EngineCut cut{.stages = {}, .batch = options.frames, .memory = options.memory};
    if (schedule.frames_in_flight)
        cut.frames_in_flight = static_cast<std::uint64_t>(*schedule.frames_in_flight);
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        const Stage& stage = schedule.stages[s];
        EngineStage& made = cut.stages.emplace_back();
        made.cut = {stage.task_count, static_cast<std::size_t>(stage.threads)};
        if (stage.word) made.letters = stage.word->letters;
        made.ring_depth =
            stage.sync_buff_size ? static_cast<std::size_t>(*stage.sync_buff_size) : options.ring_depth;
        made.waiting = stage.waiting.value_or(options.waiting);
        made.cores = std::move(cores[s]);
        if (!stage.batch) continue;
        made.gather = static_cast<std::uint32_t>(*stage.batch);
        made.gather_wait_us = options.batch_wait_us;
    }
    set_owners(schedule, cut);
    return cut;
}

Pipeline::Pipeline(Graph& graph, const Schedule& schedule, const PipelineOptions& options)
    : Executor(std::make_unique<Engine>(graph, cut_of(graph, schedule, options))), options_(options) {}

void Pipeline::reschedule(const Schedule& schedule) {
    engine<Engine>().reschedule(cut_of(graph(), schedule, options_));
}

}  // namespace tidemill

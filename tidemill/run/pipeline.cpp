#include "tidemill/run/pipeline.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/platform/pinning.hpp"
#include "tidemill/run/engine.hpp"
#include "tidemill/run/pipeline_cut.hpp"
#include "tidemill/schedule/schedule_error.hpp"

namespace tidemill {

namespace {

PinningPolicy policy_of(Pinning pinning) {
    switch (pinning) {
        case Pinning::kPacked:
            return PinningPolicy::kPacked;
        case Pinning::kGuided:
            return PinningPolicy::kGuided;
        case Pinning::kDistant:
            return PinningPolicy::kDistant;
        case Pinning::kLoose:
            return PinningPolicy::kLoose;
    }
    return PinningPolicy::kLoose;
}

std::vector<std::string> node_list_of(const CoreResource& resource) {
    std::vector<std::string> list;
    for (const NodeRange& range : resource.nodes) {
        const char* unit = range.unit == NodeRange::Unit::kPu ? "PU" : "core";
        list.push_back(fmt::format("{}{}-{}", unit, range.first, range.last));
    }
    return list;
}

StagePlacement placement_of(const Stage& stage, const Schedule& schedule, const Topology& topology) {
    StagePlacement placement;
    placement.threads = static_cast<std::size_t>(stage.threads);
    placement.policy = policy_of(stage.pinning);
    placement.shares_core = stage.shares_core;
    for (const CoreResource& resource : schedule.resources) {
        if (resource.kind != stage.core_kind) continue;
        placement.nodes = node_list_of(resource);
        placement.smt = static_cast<std::size_t>(resource.smt);
        placement.cluster_size = static_cast<std::size_t>(resource.cluster_size.value_or(0));
    }
    if (placement.nodes.empty() && placement.policy != PinningPolicy::kLoose) {
        placement.kind = topology.kind_index(stage.core_kind);
    }
    return placement;
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

}  // namespace

EngineCut cut_of(const Graph& graph, const Schedule& schedule, const PipelineOptions& options) {
    check_not_mixed(schedule);
    check_names(schedule, structure_of(graph));
    std::vector<std::vector<PuSet>> cores(schedule.stages.size());
    if (options.topology) {
        std::vector<StagePlacement> placements;
        for (const Stage& stage : schedule.stages) {
            placements.push_back(placement_of(stage, schedule, *options.topology));
        }
        cores = place_threads(*options.topology, placements);
    }
    EngineCut cut{{}, options.frames};
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        const Stage& stage = schedule.stages[s];
        EngineStage& made = cut.stages.emplace_back();
        made.cut = {stage.task_count, static_cast<std::size_t>(stage.threads)};
        made.ring_depth =
            stage.sync_buff_size ? static_cast<std::size_t>(*stage.sync_buff_size) : options.ring_depth;
        made.waiting = options.waiting;
        if (stage.waiting)
            made.waiting = *stage.waiting == Waiting::kActive ? WaitMode::active : WaitMode::passive;
        made.cores = std::move(cores[s]);
        if (!stage.batch) continue;
        made.gather = static_cast<std::uint32_t>(*stage.batch);
        made.gather_wait_us = options.batch_wait_us;
    }
    return cut;
}

Pipeline::Pipeline(Graph& graph, const Schedule& schedule, const PipelineOptions& options)
    : graph_(graph),
      options_(options),
      engine_(std::make_unique<Engine>(graph, cut_of(graph, schedule, options))) {}

Pipeline::~Pipeline() = default;

RunReport Pipeline::run(const RunOptions& options) {
    return engine_->run(options);
}

RunReport Pipeline::resume(const RunOptions& options) {
    return engine_->resume(options);
}

SetAt Pipeline::set(const KnobSettings& settings) {
    return engine_->set(settings);
}

Checkpoint Pipeline::checkpoint() {
    return engine_->checkpoint();
}

const Structure& Pipeline::structure() const {
    return engine_->structure();
}

void Pipeline::reschedule(const Schedule& schedule) {
    engine_->reschedule(cut_of(graph_, schedule, options_));
}

}  // namespace tidemill

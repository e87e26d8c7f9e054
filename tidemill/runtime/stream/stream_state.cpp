#include "tidemill/runtime/stream/stream_state.hpp"

#include <exception>

#include <fmt/format.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/graph/identity.hpp"
#include "tidemill/runtime/graph/knob_layout.hpp"
#include "tidemill/runtime/stream/knob_record.hpp"

namespace tidemill {

namespace {

std::vector<std::byte> kept_by(Module& module) {
    Archive archive;
    if (const auto failure = internal::thrown_by([&] { module.keep(archive); }))
        throw ModuleError(module.name(), "keep", failure);
    return archive.bytes();
}

void give_back(const Checkpoint::Kept& kept, Module& module) {
    Archive archive(kept.bytes);
    const auto failure = internal::thrown_by([&] {
        module.keep(archive);
        archive.check_whole();
    });
    if (!failure) return;
    throw CheckpointError(
        fmt::format("the checkpoint does not fit module '{}': {}", module.name(), message_of(failure)));
}

void check_is_of(const Checkpoint& checkpoint, const Graph& graph) {
    const std::string identity = identity_of(graph);
    if (checkpoint.graph == identity && checkpoint.modules.size() == graph.module_count()) return;
    throw CheckpointError(
        fmt::format("the checkpoint is of another graph ({}, this one is {}): go on with the program and the "
                    "options that wrote it",
                    checkpoint.graph, identity));
}

std::uint64_t first_of(const std::vector<std::uint64_t>& next_frames) {
    return next_frames.empty() ? 0 : next_frames.front();
}

}  // namespace

Checkpoint kept_stream(const Graph& graph, const internal::StreamPosition& place, KnobBook& knobs) {
    Checkpoint checkpoint{
        .graph = identity_of(graph), .next_frames = place.next_frames, .has_ended = place.has_ended};
    if (!knobs.layout().places.empty())
        for (const KnobSettings& each : knobs.settings_from(first_of(place.next_frames)))
            checkpoint.knobs.push_back(record_of(each));
    for (std::size_t m = 0; m < graph.module_count(); ++m)
        checkpoint.modules.push_back({graph.module(m).name(), kept_by(graph.module(m))});
    return checkpoint;
}

void restore_stream(const Checkpoint& checkpoint, const Graph& graph, internal::StreamPosition& place,
                    KnobBook& knobs) {
    check_is_of(checkpoint, graph);
    knobs.restart();
    try {
        for (const JournalRecord::Setting& each : checkpoint.knobs)
            knobs.set(settings_of(each, graph, knobs.layout()));
    } catch (const GraphError& error) {
        throw CheckpointError(fmt::format("the checkpoint's knobs: {}", error.what()));
    }
    for (std::size_t m = 0; m < graph.module_count(); ++m) give_back(checkpoint.modules[m], graph.module(m));
    place = {checkpoint.next_frames, checkpoint.has_ended};
}

Checkpoint checkpoint_of(Graph& graph) {
    Graph::Running alone(graph, graph.size());
    return kept_stream(graph, alone.place(), *KnobBook::of(graph));
}

}  // namespace tidemill

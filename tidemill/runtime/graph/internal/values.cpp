#include "tidemill/runtime/graph/internal/values.hpp"

#include <algorithm>

namespace tidemill::internal {
namespace {

std::uint64_t key(std::uint32_t module, std::uint32_t index) {
    return std::uint64_t{module} << 32 | index;
}

}  // namespace

ControlKind control_of(const Graph& graph, const Structure& structure, std::uint32_t step) {
    const TaskId id = structure.order[step].id;
    return graph.module(id.module).tasks()[id.task].control;
}

Values::Values(const Graph& graph, const Structure& structure)
    : graph_(graph), structure_(structure), end_of_segment_(structure.segments, 0) {
    for (std::uint32_t at = 0; at < structure.order.size(); ++at)
        if (structure.order[at].ends_segment) end_of_segment_[structure.order[at].segment] = at;
    for (const Region& region : structure.regions) region_of_select_.emplace(region.select, &region);
    list_values();
    list_readers();
    for (Value& value : values_) make_items(value);
    keep_what_loops_read();
}

const Value& Values::of(std::uint32_t module, std::uint32_t socket) const {
    return values_[value_of_.at(key(module, socket))];
}

const Value* Values::source_of(std::uint32_t module, std::uint32_t socket) const {
    const Source& source = *graph_.source_of(module, socket);
    if (!source.module) return nullptr;
    return &of(static_cast<std::uint32_t>(graph_.index_of(*source.module)), source.socket);
}

void Values::list_values() {
    for_each_socket(
        graph_, structure_,
        [&](std::uint32_t at, const OrderedTask& task, std::uint32_t s, const SocketInfo& socket) {
            if (socket.direction == Direction::in) return;
            value_of_[key(task.id.module, s)] = values_.size();
            values_.push_back({task.id.module, s, at, task.segment + (task.ends_segment ? 1 : 0), {}, {}});
        });
}

void Values::list_readers() {
    for_each_socket(
        graph_, structure_,
        [&](std::uint32_t at, const OrderedTask& task, std::uint32_t s, const SocketInfo& socket) {
            if (socket.direction == Direction::out) return;
            const Value* source = source_of(task.id.module, s);
            if (!source) return;
            auto& readers = values_[value_of_.at(key(source->module, source->socket))].readers;
            // A value that comes back to a loop's select is read when the body is done.
            const std::uint32_t reader = socket.late ? region_of_select_.at(at)->steps.end - 1 : at;
            readers.insert(std::ranges::upper_bound(readers, reader), reader);
        });
}

void Values::make_items(Value& value) {
    const std::size_t bytes = graph_.module(value.module).sockets()[value.socket].bytes() *
                              structure_.order[value.producer].firings;
    const std::uint32_t last_reader = value.readers.empty() ? value.producer : value.readers.back();
    const std::uint32_t last_segment = std::max(value.segment, structure_.order[last_reader].segment);
    for (std::uint32_t segment = value.segment; segment <= last_segment; ++segment) {
        const bool is_first = segment == value.segment;
        const std::uint32_t first = is_first ? value.producer : end_of_segment_[segment - 1];
        const std::uint32_t last = segment == last_segment ? last_reader : end_of_segment_[segment];
        const auto shared = is_first ? item_to_share(value) : std::nullopt;
        value.items.push_back(shared.value_or(items_.size()));
        if (shared) {
            items_[*shared].last = std::max(items_[*shared].last, last);
            items_[*shared].passed_on |= is_commute(value.producer);
        } else {
            items_.push_back({bytes, segment, first, last});
        }
    }
}

// The item that a value needs no bytes beside: a forward works in place when nobody reads the data it
// changes after it, and a commute only passes on what it reads.
std::optional<std::size_t> Values::item_to_share(const Value& value) const {
    const OrderedTask& task = structure_.order[value.producer];
    const bool passes = is_commute(value.producer);
    const SocketInfo& socket = graph_.module(value.module).sockets()[value.socket];
    const bool is_in_place = passes || (socket.direction == Direction::forward && !socket.marked);
    if (task.ends_segment || !is_in_place) return {};
    const Value* source = passes ? commuted(task.id.module) : source_of(value.module, value.socket);
    if (!source) return {};
    const std::size_t item = item_in(*source, task.segment);
    if (passes) return item;
    if (source->readers.back() != value.producer || items_[item].passed_on) return {};
    if (std::ranges::equal_range(source->readers, value.producer).size() > 1) return {};
    return item;
}

bool Values::is_commute(std::uint32_t step) const {
    const ControlKind kind = control_of(graph_, structure_, step);
    return kind == ControlKind::switch_commute || kind == ControlKind::loop_commute;
}

// Value that a switch or loop hands on: the only input of its commute that is not the control value.
const Value* Values::commuted(std::uint32_t module) const {
    return source_of(module, (*graph_.module(module).find_socket("data")).index);
}

// A value that a loop reads again in its next turn lives until its last step; so does the value it carries.
void Values::keep_what_loops_read() {
    if (structure_.regions.empty()) return;
    std::vector<std::vector<std::size_t>> read_last(structure_.order.size());  // items, by step
    for (std::size_t i = 0; i < items_.size(); ++i) read_last[items_[i].last].push_back(i);
    for (const Region& region : structure_.regions) {
        if (!region.is_loop) continue;
        std::vector<std::size_t>& at_end = read_last[region.steps.end - 1];
        for (std::uint32_t step = region.steps.begin; step + 1 < region.steps.end; ++step) {
            const auto moved = std::ranges::partition(
                read_last[step], [&](std::size_t i) { return items_[i].first > region.select; });
            for (const std::size_t i : moved) items_[i].last = region.steps.end - 1;
            at_end.insert(at_end.end(), moved.begin(), moved.end());
            read_last[step].erase(moved.begin(), moved.end());
        }
    }
}

}  // namespace tidemill::internal

#include "tidemill/graph/plan.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "tidemill/graph/arena.hpp"

namespace tidemill {

namespace {

// What one socket produces, as it exists in one segment: bytes that live from step to step.
struct Item {
    std::size_t bytes;
    std::uint32_t segment;
    std::uint32_t first;     // the step that writes it
    std::uint32_t last;      // the last step that reads it
    bool passed_on = false;  // by a commute: no forward may change it in place
    bool in_token = false;
    std::uint32_t stage = 0;  // whose scratch it lies in, when not in the token
    std::uint32_t offset = 0;
};

// An output or forward socket, and who reads it.
struct Value {
    std::uint32_t module;
    std::uint32_t socket;
    std::uint32_t producer;              // step
    std::uint32_t segment;               // where its frames are numbered
    std::vector<std::uint32_t> readers;  // steps
    std::vector<std::size_t> items;      // one per segment, from `segment` on
};

// Gives every item an offset such that items alive together (or, apart, any) do not overlap; returns the
// bytes needed.
std::size_t place_items(std::vector<Item*> items, std::size_t start, Layout layout = Layout::shared) {
    std::stable_sort(items.begin(), items.end(),
                     [](const Item* a, const Item* b) { return a->first < b->first; });
    std::size_t end = start;
    std::vector<Item*> placed;
    for (Item* item : items) {
        std::vector<const Item*> alive;
        std::copy_if(placed.begin(), placed.end(), std::back_inserter(alive), [&](const Item* other) {
            return layout == Layout::apart || other->last >= item->first;
        });
        std::sort(alive.begin(), alive.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
        std::size_t offset = start;
        for (const Item* other : alive) {
            if (offset + item->bytes <= other->offset) break;
            offset = std::max(offset, other->offset + aligned(other->bytes));
        }
        end = std::max(end, offset + aligned(item->bytes));
        if (end > std::numeric_limits<std::uint32_t>::max()) {
            throw GraphError("a frame of this graph needs more than 4 GiB; make its sockets smaller");
        }
        item->offset = static_cast<std::uint32_t>(offset);
        placed.push_back(item);
    }
    return end;
}

class Compiler {
  public:
    Compiler(const Graph& graph, const Structure& structure, const std::vector<StageCut>& cuts, Layout layout)
        : graph_(graph), structure_(structure), layout_(layout) {
        check_cuts(cuts);
        make_steps();
        make_stages(cuts);
        list_values();
        list_readers();
        for (Value& value : values_) make_items(value);
        keep_what_loops_read();
        lay_out();
        resolve();
        link_parts();
    }

    Plan take() { return std::move(plan_); }

  private:
    void check_cuts(const std::vector<StageCut>& cuts) const {
        std::size_t units = 0;
        for (std::size_t s = 0; s < cuts.size(); ++s) {
            if (cuts[s].units == 0 || cuts[s].threads == 0) {
                throw GraphError(
                    fmt::format("stage {} is given {} tasks and {} threads; give at least one of each", s + 1,
                                cuts[s].units, cuts[s].threads));
            }
            for (std::size_t u = units; u < std::min(units + cuts[s].units, structure_.units.size()); ++u) {
                if (cuts[s].threads > 1) check_replicable(s, cuts[s].threads, structure_.units[u]);
            }
            units += cuts[s].units;
        }
        if (units != structure_.units.size()) {
            throw GraphError(fmt::format("the stages take {} tasks, the graph '{}' has {}", units,
                                         graph_.name(), structure_.units.size()));
        }
    }

    void check_replicable(std::size_t stage, std::size_t threads, const Unit& unit) const {
        if (!unit.replicable) {
            throw GraphError(fmt::format("stage {} has {} threads, but {} is sequential; give it one thread",
                                         stage + 1, threads, unit.name));
        }
        for (const std::uint32_t step : unit.tasks) {
            const TaskId id = structure_.order[step].id;
            const TaskOptions& options = graph_.module(id.module).tasks()[id.task].options;
            if (options.replication == Replication::cloned) graph_.require_clonable(id.module);
        }
    }

    void make_steps() {
        for (const OrderedTask& task : structure_.order) {
            plan_.steps.push_back({task, kNoStep, kNoStep, {}, {}, {}});
        }
        plan_.regions = static_cast<std::uint32_t>(structure_.regions.size());
        end_of_segment_.assign(structure_.segments, 0);
        for (std::uint32_t at = 0; at < structure_.order.size(); ++at) {
            if (structure_.order[at].ends_segment) end_of_segment_[structure_.order[at].segment] = at;
        }
    }

    void make_stages(const std::vector<StageCut>& cuts) {
        plan_.segments.assign(structure_.segments, {0, 0});
        std::uint32_t step = 0;
        std::size_t unit = 0;
        for (const StageCut& cut : cuts) {
            PlannedStage stage{cut.threads, {}, 0};
            open_part(stage, structure_.order[step].segment, step);
            for (std::size_t end = unit + cut.units; unit < end; ++unit) {
                for (const std::uint32_t at : structure_.units[unit].tasks) {
                    stage.parts.back().last_step = ++step;
                    if (structure_.order[at].ends_segment)
                        open_part(stage, structure_.order[at].segment + 1, step);
                    stage_of_.push_back(static_cast<std::uint32_t>(plan_.stages.size()));
                }
            }
            plan_.stages.push_back(std::move(stage));
        }
    }

    // A stage that ends a segment also begins the next one, if only by emitting its frames.
    void open_part(PlannedStage& stage, std::uint32_t segment, std::uint32_t step) {
        stage.parts.push_back({segment, step, step, plan_.segments[segment].stages++});
    }

    static std::uint64_t key(std::uint32_t module, std::uint32_t index) {
        return std::uint64_t{module} << 32 | index;
    }

    template <class Visit>  // (step, task, socket index, socket)
    void for_each_socket(Visit visit) const {
        for (std::uint32_t at = 0; at < structure_.order.size(); ++at) {
            const OrderedTask& task = structure_.order[at];
            const auto sockets = graph_.module(task.id.module).sockets();
            for (std::uint32_t s = 0; s < sockets.size(); ++s) {
                if (sockets[s].task == task.id.task) visit(at, task, s, sockets[s]);
            }
        }
    }

    void list_values() {
        for_each_socket([&](std::uint32_t at, const OrderedTask& task, std::uint32_t s,
                            const SocketInfo& socket) {
            if (socket.direction == Direction::in) return;
            value_of_[key(task.id.module, s)] = values_.size();
            values_.push_back({task.id.module, s, at, task.segment + (task.ends_segment ? 1 : 0), {}, {}});
        });
    }

    void list_readers() {
        for_each_socket(
            [&](std::uint32_t at, const OrderedTask& task, std::uint32_t s, const SocketInfo& socket) {
                if (socket.direction == Direction::out) return;
                const Value* source = source_of(task.id.module, s);
                if (!source) return;
                std::vector<std::uint32_t>& readers =
                    values_[value_of_.at(key(source->module, source->socket))].readers;
                // What comes back to a loop's select is read when the body is done.
                readers.push_back(socket.late ? region_of_select(at).steps.end - 1 : at);
                std::sort(readers.begin(), readers.end());
            });
    }

    const Region& region_of_select(std::uint32_t step) const {
        return *std::find_if(structure_.regions.begin(), structure_.regions.end(),
                             [&](const Region& region) { return region.select == step; });
    }

    // The value that feeds a socket; null for constant data.
    const Value* source_of(std::uint32_t module, std::uint32_t socket) const {
        const Source& source = *graph_.source_of(module, socket);
        if (!source.module) return nullptr;
        const auto producer = static_cast<std::uint32_t>(graph_.index_of(*source.module));
        return &values_[value_of_.at(key(producer, source.socket))];
    }

    void make_items(Value& value) {
        const std::size_t bytes = graph_.module(value.module).sockets()[value.socket].bytes() *
                                  structure_.order[value.producer].firings;
        const std::uint32_t last_reader = value.readers.empty() ? value.producer : value.readers.back();
        const std::uint32_t last_segment = std::max(value.segment, structure_.order[last_reader].segment);
        for (std::uint32_t segment = value.segment; segment <= last_segment; ++segment) {
            const std::uint32_t first =
                segment == value.segment ? value.producer : end_of_segment_[segment - 1];
            const std::uint32_t last = segment == last_segment ? last_reader : end_of_segment_[segment];
            if (segment == value.segment) {
                if (const auto shared = item_to_share(value)) {
                    items_[*shared].last = std::max(items_[*shared].last, last);
                    items_[*shared].passed_on |= is_commute(value.producer);
                    value.items.push_back(*shared);
                    continue;
                }
            }
            value.items.push_back(items_.size());
            items_.push_back({bytes, segment, first, last});
        }
    }

    // The item that a value needs no bytes beside: a forward works in place when nobody reads the data it
    // changes after it, and a commute only passes on what it reads.
    std::optional<std::size_t> item_to_share(const Value& value) const {
        const OrderedTask& task = structure_.order[value.producer];
        const bool passes = is_commute(value.producer);
        const Direction direction = graph_.module(value.module).sockets()[value.socket].direction;
        if (task.ends_segment || (!passes && direction != Direction::forward)) return {};
        const Value* source = passes ? commuted(task.id.module) : source_of(value.module, value.socket);
        if (!source) return {};
        const std::size_t item = item_in(*source, task.segment);
        if (passes) return item;
        if (source->readers.back() != value.producer || items_[item].passed_on) return {};
        if (std::count(source->readers.begin(), source->readers.end(), value.producer) > 1) return {};
        return item;
    }

    bool is_commute(std::uint32_t step) const {
        const ControlKind kind = control_of(step);
        return kind == ControlKind::switch_commute || kind == ControlKind::loop_commute;
    }

    ControlKind control_of(std::uint32_t step) const {
        const TaskId id = structure_.order[step].id;
        return graph_.module(id.module).tasks()[id.task].control;
    }

    // What a switch or loop hands on: the only input of its commute that is not the control value.
    const Value* commuted(std::uint32_t module) const {
        return source_of(module, (*graph_.module(module).find_socket("data")).index);
    }

    // Whether the value lies in bytes that another step wrote.
    bool item_is_shared(const Value& value) const {
        return items_[value.items.front()].first != value.producer;
    }

    static std::size_t item_in(const Value& value, std::uint32_t segment) {
        return value.items[segment - value.segment];
    }

    // What a loop reads again in its next turn lives until its last step; so does the value it carries.
    void keep_what_loops_read() {
        for (const Region& region : structure_.regions) {
            if (!region.is_loop) continue;
            for (Item& item : items_) {
                const bool read_inside = item.last >= region.steps.begin && item.last < region.steps.end;
                if (read_inside && item.first <= region.select) item.last = region.steps.end - 1;
            }
        }
    }

    // Bytes that cross a stage border lie in the token, others in the scratch of their stage.
    void lay_out() {
        for (Item& item : items_) {
            item.stage = stage_of_[item.first];
            item.in_token = stage_of_[item.last] != item.stage;
        }
        const auto chosen = [&](auto&& wanted) {
            std::vector<Item*> found;
            for (Item& item : items_) {
                if (wanted(item)) found.push_back(&item);
            }
            return found;
        };
        for (std::uint32_t g = 0; g < plan_.segments.size(); ++g) {
            plan_.segments[g].token_bytes =
                place_items(chosen([&](const Item& i) { return i.in_token && i.segment == g; }), 0, layout_);
        }
        for (std::uint32_t s = 0; s < plan_.stages.size(); ++s) {
            for (const Part& part : plan_.stages[s].parts) {
                plan_.stages[s].scratch_bytes =
                    place_items(chosen([&](const Item& i) {
                                    return !i.in_token && i.stage == s && i.segment == part.segment;
                                }),
                                plan_.stages[s].scratch_bytes);
            }
        }
    }

    // An item's place as a task of `segment` sees it.
    Place place_of(std::size_t item, std::uint32_t segment) const {
        const Item& it = items_[item];
        if (!it.in_token) return {Base::scratch, it.offset};
        return {it.segment == segment ? Base::token : Base::next_token, it.offset};
    }

    void resolve() {
        for (std::size_t m = 0; m < graph_.module_count(); ++m) {
            plan_.places.emplace_back(graph_.module(m).sockets().size(), Place{Base::constant, 0});
        }
        for_each_socket([&](std::uint32_t, const OrderedTask& task, std::uint32_t s,
                            const SocketInfo& socket) { resolve_socket(task, s, socket); });
        for (const Value& value : values_) carry(value);
        for (std::uint32_t r = 0; r < structure_.regions.size(); ++r)
            resolve_region(r, structure_.regions[r]);
    }

    void resolve_region(std::uint32_t index, const Region& region) {
        const OrderedTask& select = structure_.order[region.select];
        ControlStep& joining = plan_.steps[region.select].control;
        joining.kind = control_of(region.select);
        joining.region = index;
        Place joined{};
        for_each_socket([&](std::uint32_t at, const OrderedTask&, std::uint32_t s, const SocketInfo& socket) {
            if (at != region.select) return;
            const Place place = plan_.places[select.id.module][s];
            if (socket.direction == Direction::out)
                joined = place;
            else
                joining.inputs.push_back({place, {}, static_cast<std::uint32_t>(socket.bytes())});
        });
        for (Copy& copy : joining.inputs) copy.to = joined;
        ControlStep& opening = plan_.steps[region.commute].control;
        opening.kind = control_of(region.commute);
        opening.region = index;
        const std::uint32_t control = graph_.module(select.id.module).find_socket("control")->index;
        opening.control = plan_.places[select.id.module][control];
    }

    // Which step follows which: within a region, as its control value says.
    void link_parts() {
        for (const PlannedStage& stage : plan_.stages) {
            for (const Part& part : stage.parts) link(part.first_step, part.last_step, kNoStep);
        }
    }

    void link(std::uint32_t begin, std::uint32_t end, std::uint32_t after) {
        std::uint32_t at = begin;
        while (at < end) {
            const auto region = std::find_if(structure_.regions.begin(), structure_.regions.end(),
                                             [&](const Region& r) { return r.steps.begin == at; });
            const std::uint32_t until = region == structure_.regions.end() ? at + 1 : region->steps.end;
            const std::uint32_t next = until == end ? after : until;
            if (region == structure_.regions.end()) {
                plan_.steps[at].next = plan_.steps[at].next_at_hole = next;
            } else if (region->is_loop) {
                link_loop(*region, next);
            } else {
                link_switch(*region, next);
            }
            at = until;
        }
    }

    void link_loop(const Region& loop, std::uint32_t after) {
        const StepRange body = loop.paths.front();
        Step& select = plan_.steps[loop.select];
        Step& commute = plan_.steps[loop.commute];
        select.next = loop.select + 1;
        select.next_at_hole = commute.next_at_hole = after;
        commute.control.targets = {after, body.empty() ? loop.select : body.begin};
        link(loop.select + 1, loop.commute, loop.commute);
        link(body.begin, body.end, loop.select);
    }

    void link_switch(const Region& region, std::uint32_t after) {
        plan_.steps[region.commute].next_at_hole = after;
        plan_.steps[region.select].next = plan_.steps[region.select].next_at_hole = after;
        for (const StepRange& path : region.paths) {
            plan_.steps[region.commute].control.targets.push_back(path.empty() ? region.select : path.begin);
            link(path.begin, path.end, region.select);
        }
    }

    void resolve_socket(const OrderedTask& task, std::uint32_t index, const SocketInfo& socket) {
        const std::uint32_t module = task.id.module;
        Place& place = plan_.places[module][index];
        if (socket.direction == Direction::in) {
            place = input_place(task, index);
            return;
        }
        const Value& value = values_[value_of_.at(key(module, index))];
        place = place_of(value.items.front(), task.segment);
        if (socket.direction == Direction::out || item_is_shared(value)) return;
        plan_.steps[value.producer].before.push_back(
            {input_place(task, index), place, static_cast<std::uint32_t>(socket.bytes() * task.firings)});
    }

    Place input_place(const OrderedTask& task, std::uint32_t index) {
        if (const Value* source = source_of(task.id.module, index)) {
            return place_of(item_in(*source, task.segment), task.segment);
        }
        const std::vector<std::byte>& bytes = graph_.source_of(task.id.module, index)->constant;
        const std::size_t offset = aligned(plan_.constants.size());
        plan_.constants.resize(offset + bytes.size());
        std::copy(bytes.begin(), bytes.end(), plan_.constants.begin() + static_cast<std::ptrdiff_t>(offset));
        return {Base::constant, static_cast<std::uint32_t>(offset)};
    }

    // What later segments read is copied into every frame that the segments' last tasks emit.
    void carry(const Value& value) {
        for (std::size_t i = 0; i + 1 < value.items.size(); ++i) {
            const std::uint32_t segment = value.segment + static_cast<std::uint32_t>(i);
            plan_.steps[end_of_segment_[segment]].on_emit.push_back(
                {place_of(value.items[i], segment), place_of(value.items[i + 1], segment),
                 static_cast<std::uint32_t>(items_[value.items[i]].bytes)});
        }
    }

    const Graph& graph_;
    const Structure& structure_;
    Layout layout_;
    std::vector<std::uint32_t> end_of_segment_;      // the step that ends each segment but the last
    std::vector<std::uint32_t> stage_of_;            // per step
    std::map<std::uint64_t, std::size_t> value_of_;  // by module and socket
    std::vector<Value> values_;
    std::vector<Item> items_;
    Plan plan_;
};

}  // namespace

Plan compile(const Graph& graph, const Structure& structure, const std::vector<StageCut>& stages,
             Layout layout) {
    return Compiler(graph, structure, stages, layout).take();
}

}  // namespace tidemill

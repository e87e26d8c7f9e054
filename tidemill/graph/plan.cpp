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
    std::uint32_t first;  // the step that writes it
    std::uint32_t last;   // the last step that reads it
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

// Gives every item an offset such that items alive together do not overlap; returns the bytes needed.
std::size_t place_items(std::vector<Item*> items, std::size_t start) {
    std::stable_sort(items.begin(), items.end(),
                     [](const Item* a, const Item* b) { return a->first < b->first; });
    std::size_t end = start;
    std::vector<Item*> placed;
    for (Item* item : items) {
        std::vector<const Item*> alive;
        std::copy_if(placed.begin(), placed.end(), std::back_inserter(alive),
                     [&](const Item* other) { return other->last >= item->first; });
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
    Compiler(const Graph& graph, const Structure& structure, const std::vector<StageCut>& cuts)
        : graph_(graph), structure_(structure) {
        check_cuts(cuts);
        make_steps();
        make_stages(cuts);
        list_values();
        for (Value& value : values_) make_items(value);
        lay_out();
        resolve();
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
                if (cuts[s].threads == 1 || structure_.units[u].replicable) continue;
                throw GraphError(
                    fmt::format("stage {} has {} threads, but {} is sequential; give it one thread", s + 1,
                                cuts[s].threads, structure_.units[u].name));
            }
            units += cuts[s].units;
        }
        if (units != structure_.units.size()) {
            throw GraphError(fmt::format("the stages take {} tasks, the graph '{}' has {}", units,
                                         graph_.name(), structure_.units.size()));
        }
    }

    void make_steps() {
        for (const OrderedTask& task : structure_.order) plan_.steps.push_back({task, {}, {}});
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

    void list_values() {
        for (std::uint32_t at = 0; at < structure_.order.size(); ++at) {
            const OrderedTask& task = structure_.order[at];
            const auto sockets = graph_.module(task.id.module).sockets();
            for (std::uint32_t s = 0; s < sockets.size(); ++s) {
                if (sockets[s].task != task.id.task) continue;
                if (sockets[s].direction != Direction::out) read_by(at, task.id.module, s);
                if (sockets[s].direction == Direction::in) continue;
                value_of_[key(task.id.module, s)] = values_.size();
                values_.push_back(
                    {task.id.module, s, at, task.segment + (task.ends_segment ? 1 : 0), {}, {}});
            }
        }
    }

    void read_by(std::uint32_t step, std::uint32_t module, std::uint32_t socket) {
        if (const Value* source = source_of(module, socket)) {
            values_[static_cast<std::size_t>(source - values_.data())].readers.push_back(step);
        }
    }

    // The value that feeds a socket; null for constant data.
    const Value* source_of(std::uint32_t module, std::uint32_t socket) const {
        const Source& source = *graph_.source_of(module, socket);
        if (!source.module) return nullptr;
        const auto producer = static_cast<std::uint32_t>(graph_.index_of(*source.module));
        return &values_[value_of_.at(key(producer, source.socket))];
    }

    void make_items(Value& value) {
        const std::size_t bytes = graph_.module(value.module).sockets()[value.socket].bytes();
        const std::uint32_t last_reader = value.readers.empty() ? value.producer : value.readers.back();
        const std::uint32_t last_segment = std::max(value.segment, structure_.order[last_reader].segment);
        for (std::uint32_t segment = value.segment; segment <= last_segment; ++segment) {
            const std::uint32_t first =
                segment == value.segment ? value.producer : end_of_segment_[segment - 1];
            const std::uint32_t last = segment == last_segment ? last_reader : end_of_segment_[segment];
            if (segment == value.segment) {
                if (const auto shared = item_to_share(value)) {
                    items_[*shared].last = std::max(items_[*shared].last, last);
                    value.items.push_back(*shared);
                    continue;
                }
            }
            value.items.push_back(items_.size());
            items_.push_back({bytes, segment, first, last});
        }
    }

    // A forward works in place when nobody reads the data it changes after it.
    std::optional<std::size_t> item_to_share(const Value& value) const {
        const SocketInfo& socket = graph_.module(value.module).sockets()[value.socket];
        if (socket.direction != Direction::forward || structure_.order[value.producer].ends_segment)
            return {};
        const Value* source = source_of(value.module, value.socket);
        if (!source || source->readers.back() != value.producer) return {};
        if (std::count(source->readers.begin(), source->readers.end(), value.producer) > 1) return {};
        return item_in(*source, structure_.order[value.producer].segment);
    }

    static std::size_t item_in(const Value& value, std::uint32_t segment) {
        return value.items[segment - value.segment];
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
                place_items(chosen([&](const Item& i) { return i.in_token && i.segment == g; }), 0);
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
        for (const OrderedTask& task : structure_.order) {
            const auto sockets = graph_.module(task.id.module).sockets();
            for (std::uint32_t s = 0; s < sockets.size(); ++s) {
                if (sockets[s].task == task.id.task) resolve_socket(task, s, sockets[s]);
            }
        }
        for (const Value& value : values_) carry(value);
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
        if (socket.direction == Direction::out || item_to_share(value)) return;
        plan_.steps[value.producer].before.push_back(
            {input_place(task, index), place, static_cast<std::uint32_t>(socket.bytes())});
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
    std::vector<std::uint32_t> end_of_segment_;      // the step that ends each segment but the last
    std::vector<std::uint32_t> stage_of_;            // per step
    std::map<std::uint64_t, std::size_t> value_of_;  // by module and socket
    std::vector<Value> values_;
    std::vector<Item> items_;
    Plan plan_;
};

}  // namespace

Plan compile(const Graph& graph, const Structure& structure, const std::vector<StageCut>& stages) {
    return Compiler(graph, structure, stages).take();
}

}  // namespace tidemill

#include "tidemill/runtime/graph/plan.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "tidemill/runtime/graph/arena.hpp"
#include "tidemill/runtime/graph/internal/branches.hpp"
#include "tidemill/runtime/graph/internal/layout.hpp"
#include "tidemill/runtime/graph/internal/step_links.hpp"
#include "tidemill/runtime/graph/internal/values.hpp"
#include "tidemill/runtime/graph/knob_layout.hpp"
#include "tidemill/runtime/graph/lost_marks.hpp"

namespace tidemill {

namespace {

using internal::Value;
using internal::Values;

// The word of an empty list.
constexpr std::array<std::byte, sizeof(std::uint32_t)> kNoElements{};

class Compiler {
  public:
    Compiler(const Graph& graph, const Structure& structure, const std::vector<StageCut>& cuts, Layout layout)
        : graph_(graph),
          structure_(structure),
          parents_(internal::parents_of_branches(structure.order)),
          values_(graph, structure) {
        check_cuts(cuts);
        make_steps();
        make_stages(cuts);
        item_addresses_ = internal::lay_out(values_.items(), stage_of_, stages_of_batches(), layout, plan_);
        resolve();
        add_knobs();
        add_numbers();
        internal::link_steps(structure_, plan_);
        plan_.constants = Arena(constants_.size());
        std::ranges::copy(constants_, plan_.constants.data());
        plan_.lost_marks = graph.lost_marks();
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

    void check_replicable(std::size_t stage, std::size_t threads, const ScheduledUnit& unit) const {
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

    // Those whose only task takes several frames at once, or has some under way: none of these may share
    // bytes.
    std::vector<bool> stages_of_batches() const {
        std::vector<bool> batches;
        for (const PlannedStage& stage : plan_.stages) {
            const Part& part = stage.parts.front();
            const bool is_alone = stage.parts.size() == 1 && part.last_step - part.first_step == 1;
            const TaskId id = structure_.order[part.first_step].id;
            batches.push_back(is_alone && graph_.module(id.module).tasks()[id.task].batch_call != nullptr);
        }
        return batches;
    }

    // A stage that ends a segment also begins the next one, if only by emitting its frames.
    void open_part(PlannedStage& stage, std::uint32_t segment, std::uint32_t step) {
        stage.parts.push_back({segment, step, step, plan_.segments[segment].stages++});
    }

    // An item's address as a task of `segment` sees it.
    internal::Address address_of(std::size_t item, std::uint32_t segment) const {
        const auto [in_token, offset] = item_addresses_[item];
        if (!in_token) return {internal::Base::scratch, offset};
        return {values_.items()[item].segment == segment ? internal::Base::token : internal::Base::next_token,
                offset};
    }

    void resolve() {
        for (std::size_t m = 0; m < graph_.module_count(); ++m) {
            plan_.addresses.emplace_back(graph_.module(m).sockets());
        }
        internal::for_each_socket(
            graph_, structure_,
            [&](std::uint32_t at, const OrderedTask& task, std::uint32_t s, const SocketInfo& socket) {
                resolve_socket(task, s, socket);
                if (socket.direction == Direction::in && !socket.label.empty())
                    plan_.steps[at].labels.push_back(label_read(task.id.module, s));
            });
        add_passages();
        for (const Value& value : values_.all()) carry(value);
        for (std::uint32_t r = 0; r < structure_.regions.size(); ++r)
            resolve_region(r, structure_.regions[r]);
    }

    // A frame's token holds the values under which it began: it may be late in the stream when others hold.
    void add_knobs() {
        const KnobLayout layout = knob_layout_of(graph_);
        plan_.has_knobs = !layout.places.empty();
        for (const KnobLayout::Place& place : layout.places)
            plan_.addresses[place.module][place.socket] = {internal::Base::knobs, place.offset};
        if (!plan_.has_knobs) return;
        for (PlannedSegment& segment : plan_.segments) {
            segment.knobs_at = static_cast<std::uint32_t>(aligned(segment.token_bytes));
            segment.token_bytes = segment.knobs_at + sizeof(void*);
        }
    }

    void resolve_region(std::uint32_t index, const Region& region) {
        const OrderedTask& select = structure_.order[region.select];
        ControlStep& joining = plan_.steps[region.select].control;
        joining.kind = internal::control_of(graph_, structure_, region.select);
        joining.region = index;
        internal::Address joined{};
        const auto sockets = graph_.module(select.id.module).sockets();
        for (std::uint32_t s = 0; s < sockets.size(); ++s) {
            if (sockets[s].task != select.id.task) continue;
            const internal::Address address = plan_.addresses[select.id.module][s];
            if (sockets[s].direction == Direction::out)
                joined = address;
            else
                joining.inputs.push_back(copy_of(address, {}, sockets[s], 1));
        }
        for (Copy& copy : joining.inputs) copy.to = joined;
        ControlStep& opening = plan_.steps[region.commute].control;
        opening.kind = internal::control_of(graph_, structure_, region.commute);
        opening.region = index;
        const std::uint32_t control = graph_.module(select.id.module).find_socket("control")->index;
        opening.control = plan_.addresses[select.id.module][control];
    }

    void resolve_socket(const OrderedTask& task, std::uint32_t index, const SocketInfo& socket) {
        const std::uint32_t module = task.id.module;
        internal::Address& address = plan_.addresses[module][index];
        if (socket.knob) return;
        if (socket.direction == Direction::in) {
            address = input_address(task, index);
            return;
        }
        const Value& value = values_.of(module, index);
        address = address_of(value.items.front(), task.segment);
        std::vector<Copy>& before = plan_.steps[value.producer].before;
        if (socket.marked) {
            add_marks(task, index, value);
        } else if (socket.direction == Direction::out) {
            if (socket.varies) begin_empty(address, socket.bytes(), task.firings, kNoElements, before);
        } else if (!values_.is_shared(value)) {
            before.push_back(copy_of(input_address(task, index), address, socket, task.firings));
        }
    }

    // Each of several firings has a number of elements of its own.
    static Copy copy_of(internal::Address from, internal::Address to, const SocketInfo& socket,
                        std::uint32_t firings) {
        const bool is_counted = socket.varies && firings == 1;
        return {from, to, static_cast<std::uint32_t>(socket.bytes() * firings),
                is_counted ? static_cast<std::uint32_t>(socket.type.size) : 0};
    }

    // Per firing, what an empty list begins with is put there.
    void begin_empty(internal::Address at, std::size_t bytes, std::uint32_t firings,
                     std::span<const std::byte> head, std::vector<Copy>& before) {
        const internal::Address empty = constant(head);
        for (std::uint32_t firing = 0; firing < firings; ++firing) {
            before.push_back({empty, at, static_cast<std::uint32_t>(head.size())});
            at.offset += static_cast<std::uint32_t>(bytes);
        }
    }

    void add_marks(const OrderedTask& task, std::uint32_t index, const Value& value) {
        const Module& module = graph_.module(task.id.module);
        const SocketInfo& socket = module.sockets()[index];
        LostMarks::Count& lost = graph_.lost_marks()->of(module.path_of_socket(index));
        Step& step = plan_.steps[value.producer];
        if (socket.direction == Direction::out) {
            const std::array<std::uint64_t, 2> head{0, reinterpret_cast<std::uint64_t>(&lost)};
            begin_empty(address_of(value.items.front(), task.segment), socket.bytes(), task.firings,
                        std::as_bytes(std::span(head)), step.before);
            return;
        }
        const Value* owner = values_.source_of(task.id.module, index);
        MarksRead read{lists_of(*owner), lists_of(value), static_cast<std::uint32_t>(socket.type.size),
                       &lost};
        read.from.at = input_address(task, index);
        if (const Value* data = values_.source_of(task.id.module, *socket.marked)) {
            read.to.overlap =
                static_cast<std::uint32_t>(graph_.module(data->module).sockets()[data->socket].overlap);
            read.to.elements -= read.to.overlap;
        }
        step.marks.push_back(read);
    }

    MarksRead::Lists lists_of(const Value& value) const {
        const auto sockets = graph_.module(value.module).sockets();
        const SocketInfo& marks = sockets[value.socket];
        return {address_of(value.items.front(), structure_.order[value.producer].segment),
                static_cast<std::uint32_t>(marks.bytes()), structure_.order[value.producer].firings,
                static_cast<std::uint32_t>(sockets[*marks.marked].count),
                static_cast<std::uint32_t>(marks.count)};
    }

    LabelRead label_read(std::uint32_t module, std::uint32_t index) const {
        const Value* source = values_.source_of(module, index);
        return {index, source ? structure_.order[source->producer].firings : 1};
    }

    internal::Address input_address(const OrderedTask& task, std::uint32_t index) {
        if (const Value* source = values_.source_of(task.id.module, index)) {
            return address_of(internal::item_in(*source, task.segment), task.segment);
        }
        return constant(graph_.source_of(task.id.module, index)->constant);
    }

    internal::Address constant(std::span<const std::byte> bytes) {
        const std::size_t offset = aligned(constants_.size());
        constants_.resize(offset + bytes.size());
        std::copy(bytes.begin(), bytes.end(), constants_.begin() + static_cast<std::ptrdiff_t>(offset));
        return {internal::Base::constant, static_cast<std::uint32_t>(offset)};
    }

    // Values that later segments read are copied into every frame that the segments' last tasks emit, or that
    // passes these.
    void carry(const Value& value) {
        for (std::size_t i = 0; i + 1 < value.items.size(); ++i) {
            const std::uint32_t segment = value.segment + static_cast<std::uint32_t>(i);
            Step& end = plan_.steps[values_.end_of_segment(segment)];
            const Copy copy =
                copy_of(address_of(value.items[i], segment), address_of(value.items[i + 1], segment),
                        graph_.module(value.module).sockets()[value.socket],
                        structure_.order[value.producer].firings);
            if (is_needed(value, segment + 1, segment + 1)) end.on_emit.push_back(copy);
            for (Passage& passage : end.passages) {
                if (is_needed(value, segment + 1, branch_of(passage))) passage.copies.push_back(copy);
            }
        }
    }

    // Whether a reader in `segment` or behind it finds the value on frames that are of this branch there.
    bool is_needed(const Value& value, std::uint32_t segment, std::uint32_t branch) const {
        return std::ranges::any_of(value.readers, [&](std::uint32_t reader) {
            const OrderedTask& task = structure_.order[reader];
            return task.segment >= segment && internal::branch_in(segment, task.branch, parents_) == branch;
        });
    }

    std::uint32_t branch_of(const Passage& passage) const {
        const auto& bits = structure_.branches.bits;
        return static_cast<std::uint32_t>(std::ranges::find(bits, passage.branch) - bits.begin());
    }

    // Frames pass a segment's end for tasks behind it; those of a last branch do so to be counted.
    void add_passages() {
        plan_.branches = structure_.branches;
        for (std::uint32_t segment = 0; !plan_.branches.empty() && segment + 1 < structure_.segments;
             ++segment) {
            for (std::uint32_t branch = 0; branch <= segment; ++branch) {
                const std::uint64_t bit = plan_.branches.bits[branch];
                const bool is_needed = std::ranges::any_of(structure_.order, [&](const OrderedTask& task) {
                    return task.segment > segment &&
                           internal::branch_in(segment + 1, task.branch, parents_) == branch;
                });
                if (is_needed || (plan_.branches.last & bit))
                    plan_.steps[values_.end_of_segment(segment)].passages.push_back({bit, {}});
            }
        }
    }

    // Behind a passage, frames are not numbered by their places any more.
    void add_numbers() {
        if (plan_.branches.empty()) return;
        for (PlannedSegment& segment : plan_.segments) {
            segment.number_at = static_cast<std::uint32_t>(aligned(segment.token_bytes));
            segment.token_bytes = segment.number_at + sizeof(std::uint64_t);
        }
    }

    const Graph& graph_;
    const Structure& structure_;
    const std::vector<std::uint32_t> parents_;  // of branches
    Values values_;
    std::vector<std::uint32_t> stage_of_;  // per step
    std::vector<internal::ItemAddress> item_addresses_;
    std::vector<std::byte> constants_{};
    Plan plan_;
};

}  // namespace

Plan compile(const Graph& graph, const Structure& structure, const std::vector<StageCut>& stages,
             Layout layout) {
    return Compiler(graph, structure, stages, layout).take();
}

}  // namespace tidemill

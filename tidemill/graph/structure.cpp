#include "tidemill/graph/structure.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/graph/internal/linear_order.hpp"
#include "tidemill/graph/internal/rates.hpp"

namespace tidemill {

namespace {

using internal::reached_from;

class Analysis {
  public:
    explicit Analysis(const Graph& graph) : graph_(graph) {
        list_tasks();
        check_sockets();
        check_options();
        fail_on_faults();
        list_links();
        check_cycles();
        count_firings();
        fail_on_faults();
    }

    Structure structure() {
        keep_together();
        list_controls();
        order_tasks();
        check_segments();
        number_holes();
        fail_on_faults();
        return std::move(result_);
    }

  private:
    struct Node {
        TaskId id;
        const TaskInfo* info;
    };

    void list_tasks() {
        for (std::uint32_t m = 0; m < graph_.module_count(); ++m) {
            const Module& module = graph_.module(m);
            first_of_module_.push_back(static_cast<std::uint32_t>(nodes_.size()));
            if (module.tasks().empty()) {
                faults_.push_back(fmt::format("module '{}' has no task", module.name()));
            }
            for (std::uint32_t t = 0; t < module.tasks().size(); ++t) {
                nodes_.push_back({{m, t}, &module.tasks()[t]});
                problem_.names.push_back(module.path_of_task(t));
                problem_.ends_segment.push_back(module.tasks()[t].ends_segment());
            }
        }
        if (nodes_.empty()) faults_.push_back(fmt::format("graph '{}' is empty: add modules", graph_.name()));
    }

    void check_sockets() {
        for (std::size_t m = 0; m < graph_.module_count(); ++m) {
            const Module& module = graph_.module(m);
            for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
                const SocketInfo& socket = module.sockets()[s];
                if (socket.task >= module.tasks().size()) {
                    faults_.push_back(fmt::format("{}: belongs to no task; declare it before its task",
                                                  module.path_of_socket(s)));
                }
                if (socket.direction != Direction::out && !graph_.source_of(m, s)) {
                    faults_.push_back(
                        fmt::format("{} ({} x {}): nothing feeds it; bind an output or constant data",
                                    module.path_of_socket(s), socket.type.name, socket.count));
                }
            }
        }
    }

    void check_options() {
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            const TaskOptions& options = nodes_[n].info->options;
            if (options.may_repeat && options.replication != Replication::sequential) {
                faults_.push_back(fmt::format("{}: may_repeat needs a sequential task", problem_.names[n]));
            }
        }
    }

    void fail_on_faults() {
        if (!faults_.empty()) throw GraphError(std::move(faults_));
    }

    std::uint32_t node_of(std::size_t module, std::uint32_t socket) const {
        return first_of_module_[module] + graph_.module(module).sockets()[socket].task;
    }

    struct Binding {
        std::uint32_t from;  // nodes
        std::uint32_t to;
        const Source& source;
        SocketRef input;

        const SocketInfo& input_info() const { return input.module->sockets()[input.index]; }
        const SocketInfo& output_info() const { return source.module->sockets()[source.socket]; }
    };

    template <class Visit>  // (Binding)
    void for_each_binding(Visit visit) const {
        for (std::size_t m = 0; m < graph_.module_count(); ++m) {
            const Module& module = graph_.module(m);
            for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
                const Source* source = graph_.source_of(m, s);
                if (!source || !source->module) continue;
                const std::uint32_t from = node_of(graph_.index_of(*source->module), source->socket);
                visit(Binding{from, node_of(m, s), *source, {&module, s}});
            }
        }
    }

    void list_links() {
        problem_.forward.resize(nodes_.size());
        problem_.all.resize(nodes_.size());
        predecessors_.resize(nodes_.size());
        for_each_binding([&](const Binding& binding) {
            problem_.all[binding.from].push_back(binding.to);
            predecessors_[binding.to].push_back(binding.from);
            if (!binding.input_info().late) problem_.forward[binding.from].push_back(binding.to);
        });
    }

    void check_cycles() {
        const auto by_number = [](std::uint32_t node) { return std::pair{false, node}; };
        if (internal::ordered(problem_.forward, by_number).size() == nodes_.size()) return;
        std::vector<std::string> names;
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            if (reached_from(node, problem_.forward)[node]) names.push_back(problem_.names[node]);
        }
        faults_.push_back(
            fmt::format("these tasks wait for each other: {}; break the cycle", fmt::join(names, ", ")));
    }

    void count_firings() {
        std::vector<internal::RateLink> links;
        for_each_binding([&](const Binding& binding) {
            const std::uint64_t given = binding.source.streams ? binding.output_info().count : 1;
            const std::uint64_t taken = binding.source.streams ? binding.input_info().count : 1;
            links.push_back({binding.from, binding.to, given, taken,
                             fmt::format("{} ({}) -> {} ({})",
                                         binding.source.module->path_of_socket(binding.source.socket),
                                         binding.output_info().count,
                                         binding.input.module->path_of_socket(binding.input.index),
                                         binding.input_info().count)});
        });
        internal::Repetitions repetitions =
            internal::repetitions_of(static_cast<std::uint32_t>(nodes_.size()), links);
        if (repetitions.fault) faults_.push_back(*repetitions.fault);
        firings_ = std::move(repetitions.firings);
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            const TaskInfo& info = *nodes_[n].info;
            const bool once =
                info.options.may_skip || info.options.may_repeat || info.control != ControlKind::none;
            if (!once || firings_[n] == 1) continue;
            faults_.push_back(
                fmt::format("{} would run {} times per frame, but a task that skips, repeats or "
                            "steers runs once: make its sockets larger",
                            problem_.names[n], firings_[n]));
        }
    }

    // The tasks of a module with state, and those of a switch or loop, are one unit.
    void keep_together() {
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            const Module& module = graph_.module(nodes_[node].id.module);
            const bool shares =
                std::any_of(module.tasks().begin(), module.tasks().end(), [](const TaskInfo& task) {
                    return task.options.replication != Replication::shared ||
                           task.control != ControlKind::none;
                });
            const bool parted = module.tasks_independent() || !shares;
            problem_.together.push_back(parted ? node : first_of_module_[nodes_[node].id.module]);
        }
    }

    void list_controls() {
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            const bool is_loop = nodes_[node].info->control == ControlKind::loop_select;
            if (!is_loop && nodes_[node].info->control != ControlKind::switch_commute) continue;
            const std::uint32_t other = node + 1;  // the module's second task
            const std::string& name = graph_.module(nodes_[node].id.module).name();
            problem_.controls.push_back({is_loop, name, is_loop ? other : node, is_loop ? node : other, {}});
            if (is_loop) {
                check_loop(problem_.controls.back());
            } else {
                list_paths(problem_.controls.back());
            }
        }
    }

    void check_loop(const internal::ControlNodes& loop) {
        if (!reached_from(loop.select, problem_.forward)[loop.commute]) {
            faults_.push_back(
                fmt::format("{0}.data and {0}.control do not depend on {0}.turn: the loop would "
                            "never change",
                            loop.name));
        }
        if (!reached_from(loop.commute, problem_.all)[loop.select]) {
            faults_.push_back(
                fmt::format("{0}.next does not depend on {0}.body: bind what the body makes, or the "
                            "body itself",
                            loop.name));
        }
    }

    void list_paths(internal::ControlNodes& control) const {
        const Module& module = graph_.module(nodes_[control.commute].id.module);
        std::vector<std::size_t> path_of_socket(module.sockets().size(), 0);
        for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
            const SocketInfo& socket = module.sockets()[s];
            if (socket.task != 0 || socket.direction != Direction::out) continue;
            path_of_socket[s] = control.path_readers.size();
            control.path_readers.emplace_back();
        }
        for_each_binding([&](const Binding& binding) {
            if (binding.from != control.commute) return;
            control.path_readers[path_of_socket[binding.source.socket]].push_back(binding.to);
        });
    }

    void order_tasks() {
        fail_on_faults();
        internal::LinearOrder order = internal::linear_order(problem_);
        faults_ = std::move(order.faults);
        fail_on_faults();
        for (const StepRange& range : order.units) {
            Unit unit{"", {}, true};
            for (std::uint32_t step = range.begin; step < range.end; ++step)
                append_task(order.nodes[step], unit);
            result_.units.push_back(std::move(unit));
        }
        result_.segments = segment_ + 1;
        result_.regions = std::move(order.regions);
    }

    void append_task(std::uint32_t node, Unit& unit) {
        const Node& task = nodes_[node];
        unit.name += (unit.name.empty() ? "" : "+") + problem_.names[node];
        unit.tasks.push_back(static_cast<std::uint32_t>(result_.order.size()));
        unit.replicable &= task.info->options.replication != Replication::sequential;
        result_.order.push_back({task.id, problem_.names[node], segment_, task.info->ends_segment(), 0, 0,
                                 static_cast<std::uint32_t>(firings_[node])});
        node_at_.push_back(node);
        if (task.info->ends_segment()) ++segment_;
    }

    void check_segments() {
        for (std::size_t end = 0; end < node_at_.size(); ++end) {
            if (!result_.order[end].ends_segment) continue;
            const std::vector<bool> after = reached_from(node_at_[end], ties_behind(end));
            for (std::size_t later = end + 1; later < node_at_.size(); ++later) {
                if (after[node_at_[later]]) continue;
                faults_.push_back(fmt::format(
                    "{} and {} count frames independently of each other: make one depend on the other, or "
                    "declare that neither skips nor repeats",
                    result_.order[end].name, result_.order[later].name));
            }
        }
    }

    // What a task behind `end` depends on; a task whose state another one behind it shares goes with that
    // one.
    internal::Links ties_behind(std::size_t end) const {
        internal::Links ties = problem_.forward;
        for (std::size_t at = end + 1; at < node_at_.size(); ++at) {
            for (std::size_t other = end + 1; other < node_at_.size(); ++other) {
                const bool tied = problem_.together[node_at_[at]] == problem_.together[node_at_[other]];
                if (tied && at != other) ties[node_at_[at]].push_back(node_at_[other]);
            }
        }
        return ties;
    }

    void number_holes() {
        std::uint32_t used = 0;
        for (std::size_t at = 0; at < node_at_.size(); ++at) {
            const TaskInfo& info = *nodes_[node_at_[at]].info;
            if (!info.options.may_skip || info.ends_segment()) continue;
            if (used == 64) {
                faults_.push_back(
                    fmt::format("{}: more than 64 replicable tasks may skip", result_.order[at].name));
                return;
            }
            result_.order[at].own_hole = std::uint64_t{1} << used++;
        }
        // A loop leads holes back to its beginning, so one pass may not be enough.
        while (used > 0 && pass_holes_on()) {
        }
    }

    bool pass_holes_on() {
        std::vector<std::uint64_t> after(nodes_.size(), 0);
        for (std::size_t at = 0; at < node_at_.size(); ++at) {
            after[node_at_[at]] = result_.order[at].holes | result_.order[at].own_hole;
        }
        bool changed = false;
        for (std::size_t at = 0; at < node_at_.size(); ++at) {
            std::uint64_t holes = result_.order[at].holes;
            for (const std::uint32_t before : predecessors_[node_at_[at]]) holes |= after[before];
            changed |= holes != result_.order[at].holes;
            result_.order[at].holes = holes;
            after[node_at_[at]] |= holes;
        }
        return changed;
    }

    const Graph& graph_;
    std::vector<std::string> faults_;
    std::vector<Node> nodes_;                     // all tasks, in order of declaration
    std::vector<std::uint32_t> first_of_module_;  // its first task's node
    std::vector<std::uint64_t> firings_;          // per node
    internal::OrderProblem problem_;
    internal::Links predecessors_;
    std::vector<std::uint32_t> node_at_;  // per position in the order
    std::uint32_t segment_ = 0;
    Structure result_{};
};

}  // namespace

Structure structure_of(const Graph& graph) {
    return Analysis(graph).structure();
}

}  // namespace tidemill

#include "tidemill/runtime/observe/internal/drawing.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tidemill/base/plural.hpp"
#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill::internal {

namespace {

class Drawer {
  public:
    Drawer(const Graph& graph, const DrawingOptions& options)
        : graph_(graph), options_(options), structure_(structure_of(graph)) {
        if (options.schedule) check(*options.schedule, chain());
        drawing_.name = graph.name();
        list_groups();
        list_tasks();
        list_links();
        place_tasks();
        if (options.report) add_times(*options.report);
    }

    Drawing take() { return std::move(drawing_); }

  private:
    // The chain that a schedule must fit: this graph's units, on whatever kinds of core it names.
    Chain chain() const {
        Chain chain;
        for (const CoreCount& used : cores_used(*options_.schedule)) chain.kinds.push_back(used.kind);
        for (const ScheduledUnit& unit : structure_.units) {
            chain.tasks.push_back({unit.name, unit.replicable, std::vector<double>(chain.kinds.size(), 0)});
        }
        return chain;
    }

    void list_groups() {
        if (!options_.schedule) {
            drawing_.groups.push_back({graph_.name()});
            return;
        }
        for (const Stage& stage : options_.schedule->stages) {
            const std::string kinds = stage.kind_names();  // none where it is on any core
            drawing_.groups.push_back(
                {fmt::format("stage {}: {} thread{}{}{}", drawing_.groups.size() + 1, stage.threads,
                             plural(stage.threads), kinds.empty() ? "" : " on ", kinds)});
        }
    }

    std::size_t group_of_unit(std::size_t unit) const {
        if (!options_.schedule) return 0;
        std::size_t group = 0;
        std::size_t end = options_.schedule->stages[0].task_count;
        while (unit >= end) end += options_.schedule->stages[++group].task_count;
        return group;
    }

    void list_tasks() {
        for (std::size_t u = 0; u < structure_.units.size(); ++u) {
            for (const std::uint32_t at : structure_.units[u].tasks) {
                const OrderedTask& task = structure_.order[at];
                const TaskInfo& info = graph_.module(task.id.module).tasks()[task.id.task];
                position_[{task.id.module, task.id.task}] = drawing_.tasks.size();
                drawing_.tasks.push_back(
                    {task.name, info.options.replication, task.ends_segment, group_of_unit(u)});
            }
        }
    }

    void list_links() {
        std::map<std::pair<std::size_t, std::size_t>, DrawnLink> links;
        for (std::uint32_t m = 0; m < graph_.module_count(); ++m) {
            const auto sockets = graph_.module(m).sockets();
            for (std::uint32_t s = 0; s < sockets.size(); ++s) {
                const Source* source = graph_.source_of(m, s);
                if (!source || !source->module) continue;
                const SocketInfo& output = source->module->sockets()[source->socket];
                const auto producer = static_cast<std::uint32_t>(graph_.index_of(*source->module));
                const std::size_t from = position_.at({producer, output.task});
                const std::size_t to = position_.at({m, sockets[s].task});
                DrawnLink& link =
                    links.try_emplace({from, to}, DrawnLink{from, to, crosses(from, to)}).first->second;
                link.sockets.push_back(
                    fmt::format("{} -> {} ({})", output.name, sockets[s].name, sockets[s].shape()));
            }
        }
        for (auto& [ends, link] : links) drawing_.links.push_back(std::move(link));
    }

    bool crosses(std::size_t from, std::size_t to) const {
        return structure_.order[from].segment != structure_.order[to].segment;
    }

    void place_tasks() {
        // Links are in the order of their first task, so a task's row is final before its own links are seen.
        for (const DrawnLink& link : drawing_.links) {
            const DrawnTask& from = drawing_.tasks[link.from];
            DrawnTask& to = drawing_.tasks[link.to];
            if (from.group == to.group && link.from < link.to) to.row = std::max(to.row, from.row + 1);
        }
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> used;
        for (DrawnTask& task : drawing_.tasks) {
            DrawnGroup& group = drawing_.groups[task.group];
            task.column = used[{task.group, task.row}]++;
            group.rows = std::max(group.rows, task.row + 1);
            group.columns = std::max(group.columns, task.column + 1);
        }
    }

    void add_times(const RunReport& report) {
        for (const TaskReport& times : report.tasks) {
            const auto found = std::find_if(drawing_.tasks.begin(), drawing_.tasks.end(),
                                            [&](const DrawnTask& task) { return task.name == times.name; });
            if (found == drawing_.tasks.end() || times.calls.count == 0) continue;
            const double threads = options_.schedule ? options_.schedule->stages[found->group].threads : 1;
            found->mean_us = times.calls.mean_us;
            found->load = times.calls.total_us / (report.elapsed_s * 1e6 * threads);
        }
        std::vector<double> loads(drawing_.groups.size(), 0);
        for (const DrawnTask& task : drawing_.tasks) loads[task.group] += task.load.value_or(0);
        for (std::size_t g = 0; g < loads.size(); ++g) {
            drawing_.groups[g].title += fmt::format(", {:.0f} % busy", 100 * loads[g]);
        }
    }

    const Graph& graph_;
    const DrawingOptions& options_;
    Structure structure_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> position_;  // of module and task
    Drawing drawing_;
};

}  // namespace

Drawing drawing_of(const Graph& graph, const DrawingOptions& options) {
    return Drawer(graph, options).take();
}

const char* colour_of(Replication replication) {
    switch (replication) {
        case Replication::pure:
            return "#d9f0d9";
        case Replication::cloned:
            return "#d9e8f7";
        case Replication::sequential:
            break;
    }
    return "#f7e7d0";
}

std::string caption_of(const DrawnTask& task) {
    if (task.mean_us) return fmt::format("{:.1f} us, {:.0f} %", *task.mean_us, 100 * task.load.value_or(0));
    switch (task.replication) {
        case Replication::pure:
            return "pure";
        case Replication::cloned:
            return "cloned";
        case Replication::sequential:
            break;
    }
    return "sequential";
}

}  // namespace tidemill::internal

#include "tidemill/run/dynamic/dynamic_units.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tidemill {

namespace {

// Bytes of a token that a unit reads or writes.
struct Access {
    std::size_t begin;
    std::size_t end;
    bool writes;
};

using Accesses = std::vector<Access>;

bool clash(const Accesses& one, const Accesses& other) {
    return std::any_of(one.begin(), one.end(), [&](const Access& a) {
        return std::any_of(other.begin(), other.end(), [&](const Access& b) {
            return (a.writes || b.writes) && a.begin < b.end && b.begin < a.end;
        });
    });
}

class AccessList {
  public:
    AccessList(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {}

    Accesses of(const Part& part) const {
        Accesses accesses;
        for (std::uint32_t index = part.first_step; index < part.last_step; ++index) {
            const Step& step = plan_.steps[index];
            add_sockets(step.task, accesses);
            for (const Copy& copy : step.before) add(copy, accesses);
            for (const Copy& copy : step.on_emit) add(copy, accesses);
        }
        return accesses;
    }

  private:
    static void add(internal::Address address, std::size_t bytes, bool writes, Accesses& to) {
        if (address.base == internal::Base::token)
            to.push_back({address.offset, address.offset + bytes, writes});
    }

    static void add(const Copy& copy, Accesses& to) {
        add(copy.from, copy.bytes, false, to);
        add(copy.to, copy.bytes, true, to);
    }

    void add_sockets(const OrderedTask& task, Accesses& to) const {
        const auto sockets = graph_.module(task.id.module).sockets();
        for (std::size_t s = 0; s < sockets.size(); ++s) {
            if (sockets[s].task != task.id.task) continue;
            add(plan_.addresses[task.id.module][s], sockets[s].bytes() * task.firings,
                sockets[s].direction != Direction::in, to);
        }
    }

    const Graph& graph_;
    const Plan& plan_;
};

bool has_a_task_that_waits(const Graph& graph, const Structure& structure, const ScheduledUnit& unit) {
    return std::ranges::any_of(unit.tasks, [&](std::uint32_t at) {
        const TaskId id = structure.order[at].id;
        return graph.module(id.module).tasks()[id.task].options.may_wait;
    });
}

// 1 where there is no such task, or it has not the unit to itself.
std::uint32_t batch_of(const Graph& graph, const Structure& structure, const ScheduledUnit& unit) {
    if (unit.tasks.size() != 1) return 1;
    const OrderedTask& task = structure.order[unit.tasks.front()];
    const TaskInfo& info = graph.module(task.id.module).tasks()[task.id.task];
    return info.flight && !task.ends_segment ? info.options.batch : 1;
}

DynamicUnit unit_of(const Graph& graph, const Structure& structure, std::uint32_t index,
                    const PlannedStage& stage) {
    const ScheduledUnit& unit = structure.units[index];
    if (stage.parts.size() > 2) {
        throw GraphError(fmt::format(
            "{} reaches over {} segments, dynamic scheduling allows two: use another executor, or let tasks "
            "of the module be independent",
            unit.name, stage.parts.size()));
    }
    const std::uint32_t batch = batch_of(graph, structure, unit);
    return {.name = unit.name,
            .sequential = !unit.replicable || batch > 1,
            .may_wait = has_a_task_that_waits(graph, structure, unit),
            .segment = stage.parts.front().segment,
            .emits = stage.parts.size() > 1,
            .predecessors = {},
            .successors = {},
            .batch = batch};
}

bool is_named(const OrderedTask& task, const std::string& name) {
    return task.name == name || task.name.substr(0, task.name.find('.')) == name;
}

// Whether there is one.
bool confine(std::vector<DynamicUnit>& units, const Structure& structure, const std::string& name,
             policy::KindSet kinds) {
    bool found = false;
    for (std::size_t k = 0; k < units.size(); ++k) {
        for (const std::uint32_t at : structure.units[k].tasks) {
            if (!is_named(structure.order[at], name)) continue;
            units[k].kinds &= kinds;
            found = true;
        }
    }
    return found;
}

}  // namespace

Plan compile_apart(const Graph& graph, const Structure& structure) {
    return compile(graph, structure, std::vector<StageCut>(structure.units.size(), {1, 1}), Layout::apart);
}

std::vector<DynamicUnit> dynamic_units_of(const Graph& graph, const Structure& structure, const Plan& plan) {
    std::vector<DynamicUnit> units;
    std::vector<Accesses> accesses;
    std::vector<std::vector<bool>> before;  // per unit, all that it depends on
    for (std::uint32_t k = 0; k < structure.units.size(); ++k) {
        DynamicUnit& unit = units.emplace_back(unit_of(graph, structure, k, plan.stages[k]));
        accesses.push_back(AccessList(graph, plan).of(plan.stages[k].parts.front()));
        std::vector<bool>& mine = before.emplace_back(structure.units.size(), false);
        for (std::uint32_t p = k; p-- > 0 && units[p].segment == unit.segment;) {
            const bool tied = unit.emits || (unit.sequential && units[p].sequential);
            if (mine[p] || !(tied || clash(accesses[p], accesses[k]))) continue;
            unit.predecessors.push_back(p);
            units[p].successors.push_back(k);
            mine[p] = true;
            for (std::uint32_t q = 0; q < p; ++q) mine[q] = mine[q] || before[p][q];
        }
    }
    return units;
}

void confine(std::vector<DynamicUnit>& units, const Structure& structure,
             const std::map<std::string, policy::KindSet>& only, policy::KindSet there) {
    for (const auto& [name, kinds] : only) {
        if (confine(units, structure, name, kinds)) continue;
        throw GraphError(fmt::format(
            "'{}' is to run on some kinds of cores only, but is neither a module nor a task", name));
    }
    for (const DynamicUnit& unit : units) {
        if ((unit.kinds & there) != 0) continue;
        throw GraphError(fmt::format(
            "no worker is on a core that may run {}: allow it other kinds, or give it a worker on one of its "
            "own",
            unit.name));
    }
}

}  // namespace tidemill

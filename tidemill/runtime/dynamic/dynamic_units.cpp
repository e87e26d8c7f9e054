#include "tidemill/runtime/dynamic/dynamic_units.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace tidemill {

namespace {

// Bytes of a token that a unit reads or writes.
struct TouchedBytes {
    std::size_t begin;
    std::size_t end;
    bool writes;
};

using TouchedPieces = std::vector<TouchedBytes>;

bool clash(const TouchedPieces& one, const TouchedPieces& other) {
    return std::any_of(one.begin(), one.end(), [&](const TouchedBytes& a) {
        return std::any_of(other.begin(), other.end(), [&](const TouchedBytes& b) {
            return (a.writes || b.writes) && a.begin < b.end && b.begin < a.end;
        });
    });
}

class AccessList {
  public:
    AccessList(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {}

    TouchedPieces of(const Part& part) const {
        TouchedPieces accesses;
        for (std::uint32_t index = part.first_step; index < part.last_step; ++index) {
            const Step& step = plan_.steps[index];
            add_sockets(step.task, accesses);
            for (const Copy& copy : step.before) add(copy, accesses);
            for (const Copy& copy : step.on_emit) add(copy, accesses);
        }
        return accesses;
    }

  private:
    static void add(internal::Address address, std::size_t bytes, bool writes, TouchedPieces& to) {
        if (address.base == internal::Base::token)
            to.push_back({address.offset, address.offset + bytes, writes});
    }

    static void add(const Copy& copy, TouchedPieces& to) {
        add(copy.from, copy.bytes, false, to);
        add(copy.to, copy.bytes, true, to);
    }

    void add_sockets(const OrderedTask& task, TouchedPieces& to) const {
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

/// Bytes that some units' accesses have in common, directly or by others, and the units that read or write
/// any of them, in their order.
struct Cell {
    std::size_t begin;
    std::size_t end;
    std::vector<std::uint32_t> users{};
    std::vector<std::uint32_t> writers{};
    std::vector<std::uint32_t> writers_of_all{};
};

std::vector<Cell> cells_of(std::span<const TouchedPieces> units) {
    std::vector<Cell> cells;
    for (const TouchedPieces& accesses : units)
        for (const TouchedBytes& access : accesses)
            if (access.begin < access.end) cells.push_back({access.begin, access.end});
    std::ranges::sort(cells, {}, &Cell::begin);
    std::vector<Cell> merged;
    for (Cell& cell : cells) {
        if (merged.empty() || cell.begin >= merged.back().end) {
            merged.push_back(std::move(cell));
        } else {
            merged.back().end = std::max(merged.back().end, cell.end);
        }
    }
    return merged;
}

/// Finds which units wait for which: those whose bytes clash, or that are both sequential, and the last one
/// of a segment for all others; each only for those that it does not wait for through another.
class UnitWaits {
  public:
    UnitWaits(std::vector<DynamicUnit>& units, const std::vector<TouchedPieces>& accesses)
        : units_(units), accesses_(accesses), all_from_(units.size()), met_in_(units.size(), 0) {}

    /// Finds the waits of one segment's units.
    void find_in(std::uint32_t first, std::uint32_t end) {
        cells_ = cells_of(std::span(accesses_).subspan(first, end - first));
        last_sequential_.reset();
        for (std::uint32_t unit = first; unit < end; ++unit) {
            find_for(unit, units_[unit].emits ? all_between(first, unit) : clashing(unit));
            if (units_[unit].emits) all_from_[unit] = first;
            enter(unit);
        }
    }

  private:
    static std::vector<std::uint32_t> all_between(std::uint32_t first, std::uint32_t end) {
        std::vector<std::uint32_t> all;
        for (std::uint32_t unit = end; unit-- > first;) all.push_back(unit);
        return all;
    }

    Cell& cell_of(const TouchedBytes& access) {
        return *std::prev(std::ranges::upper_bound(cells_, access.begin, {}, &Cell::begin));
    }

    // The latest first. A writer of all bytes of a cell waits for all that used them before.
    std::vector<std::uint32_t> clashing(std::uint32_t unit) {
        std::vector<std::uint32_t> found;
        if (units_[unit].sequential && last_sequential_) found.push_back(*last_sequential_);
        for (const TouchedBytes& access : accesses_[unit]) {
            if (access.begin == access.end) continue;
            const Cell& cell = cell_of(access);
            const std::vector<std::uint32_t>& others = access.writes ? cell.users : cell.writers;
            const std::uint32_t since = cell.writers_of_all.empty() ? 0 : cell.writers_of_all.back();
            for (auto other = others.rbegin(); other != others.rend() && *other >= since; ++other)
                if (clash(accesses_[*other], accesses_[unit])) found.push_back(*other);
        }
        std::ranges::sort(found, std::greater());
        found.erase(std::ranges::unique(found).begin(), found.end());
        return found;
    }

    // Takes of the wanted units, the latest first, all that it does not wait for anyway.
    void find_for(std::uint32_t unit, const std::vector<std::uint32_t>& wanted) {
        ++search_;
        met_ = {};
        all_met_from_ = unit;
        all_from_[unit] = unit;
        for (const std::uint32_t before : wanted) {
            if (is_met(before)) continue;
            units_[unit].predecessors.push_back(before);
            units_[before].successors.push_back(unit);
            meet(before);
            all_met_from_ = std::min(all_met_from_, all_from_[before]);
            if (before + 1 == all_from_[unit]) all_from_[unit] = all_from_[before];
        }
    }

    // Goes back from those that the unit is known to wait for, as far as that one.
    bool is_met(std::uint32_t before) {
        while (before < all_met_from_ && !met_.empty() && met_.top() > before) {
            const std::uint32_t at = met_.top();
            met_.pop();
            all_met_from_ = std::min(all_met_from_, all_from_[at]);
            for (const std::uint32_t earlier : units_[at].predecessors) meet(earlier);
        }
        return before >= all_met_from_ || met_in_[before] == search_;
    }

    void meet(std::uint32_t unit) {
        if (std::exchange(met_in_[unit], search_) != search_) met_.push(unit);
    }

    void enter(std::uint32_t unit) {
        if (units_[unit].sequential) last_sequential_ = unit;
        for (const TouchedBytes& access : accesses_[unit]) {
            if (access.begin == access.end) continue;
            Cell& cell = cell_of(access);
            const auto add = [&](std::vector<std::uint32_t>& to) {
                if (to.empty() || to.back() != unit) to.push_back(unit);
            };
            add(cell.users);
            if (access.writes) add(cell.writers);
            if (access.writes && access.begin == cell.begin && access.end == cell.end)
                add(cell.writers_of_all);
        }
    }

    std::vector<DynamicUnit>& units_;
    const std::vector<TouchedPieces>& accesses_;
    std::vector<Cell> cells_;
    std::optional<std::uint32_t> last_sequential_;
    std::vector<std::uint32_t> all_from_;  // per unit, it waits for all from that one on
    // Units that the searched one waits for.
    std::priority_queue<std::uint32_t> met_;  // and from which no search has gone on
    std::vector<std::uint64_t> met_in_;       // per unit, the last search that has met it
    std::uint64_t search_ = 0;
    std::uint32_t all_met_from_ = 0;  // all from that one on are met
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
    std::vector<TouchedPieces> accesses;
    for (std::uint32_t k = 0; k < structure.units.size(); ++k) {
        units.push_back(unit_of(graph, structure, k, plan.stages[k]));
        accesses.push_back(AccessList(graph, plan).of(plan.stages[k].parts.front()));
    }
    UnitWaits waits(units, accesses);
    for (std::uint32_t first = 0; first < units.size();) {
        std::uint32_t end = first;
        while (end < units.size() && units[end].segment == units[first].segment) ++end;
        waits.find_in(first, end);
        first = end;
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

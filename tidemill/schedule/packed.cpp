#include "tidemill/schedule/packed.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "tidemill/schedule/bound.hpp"
#include "tidemill/schedule/herad.hpp"
#include "tidemill/schedule/internal/packing.hpp"
#include "tidemill/schedule/work_split.hpp"

namespace tidemill {
namespace {

using internal::Letters;
using internal::Packing;
using internal::PackingProblem;

constexpr double kEqual = 1 + 1e-9;          // of periods
constexpr std::size_t kMostCells = 100'000;  // tasks x cores that are packed within a second

/// A chain's tasks on the cores of a platform, one thread each.
class Cores {
  public:
    Cores(const Chain& chain, const Platform& platform, const CostModel& model, std::size_t most_letters)
        : chain_(chain) {
        SplitWork work;
        std::vector<double> factors;
        for (const auto& [kind, count] : platform.kinds()) {
            if (count == 0) continue;
            const KindCosts costs = model.kind(kind);
            factors.push_back(costs.slowdown.empty() ? 1 : slowdown(costs, count));
            problem_.kinds.insert(problem_.kinds.end(), static_cast<std::size_t>(count), kinds_.size());
            work.ways.push_back({kinds_.size(), 1});
            work.pool_units.push_back(count);
            kinds_.push_back(kind);
        }
        for (const ChainTask& task : chain.tasks) {
            std::vector<double>& weights_us = problem_.weights_us.emplace_back();
            for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
                weights_us.push_back(task.weight_us[chain.kind_index(kinds_[kind])] * factors[kind]);
            work.weights.insert(work.weights.end(), weights_us.begin(), weights_us.end());
            work.sequential.push_back(!task.replicable);
            problem_.replicable.push_back(task.replicable);
        }
        const LeastPeriod least = least_period(work);
        problem_.bound_us = least.period;
        problem_.prices = least.prices;
        problem_.most_letters = most_letters;
    }

    PackingProblem& problem() { return problem_; }

    Packing packing_of(const Schedule& schedule) const;
    Schedule schedule_of(const Packing& packing) const;

  private:
    Stage stage_of(const Letters& letters) const;
    int number_of(std::size_t thread) const;

    const Chain& chain_;
    std::vector<std::string> kinds_;
    PackingProblem problem_;
};

// Stages that own their threads; whole cores.
Packing Cores::packing_of(const Schedule& schedule) const {
    std::map<std::string, std::size_t> next;
    for (std::size_t thread = problem_.threads(); thread-- > 0;)
        next[kinds_[problem_.kinds[thread]]] = thread;
    Packing packing;
    for (const Stage& stage : schedule.stages) {
        Letters letters(problem_.threads(), 0);
        for (std::size_t thread = 0; thread < static_cast<std::size_t>(stage.threads); ++thread)
            letters[next[stage.kind_of(thread)]++] =
                static_cast<std::uint8_t>(stage.word ? stage.word->count(thread) : 1);
        packing.tasks.insert(packing.tasks.end(), stage.task_count, letters);
    }
    packing.period_us = std::ranges::max(loads_of(problem_, packing.tasks));
    return packing;
}

// Among those of its kind, from 1.
int Cores::number_of(std::size_t thread) const {
    const auto first = std::ranges::find(problem_.kinds, problem_.kinds[thread]);
    return static_cast<int>(thread - static_cast<std::size_t>(first - problem_.kinds.begin())) + 1;
}

std::size_t stage_kinds(const CyclicWord& word) {
    return std::set<std::string>(word.kinds.begin(), word.kinds.end()).size();
}

// The word's threads are numbered by its letters, so each goes by the name of its place meanwhile.
Stage Cores::stage_of(const Letters& letters) const {
    std::vector<std::string> names;
    std::vector<std::size_t> counts;
    for (std::size_t thread = 0; thread < letters.size(); ++thread) {
        if (letters[thread] == 0) continue;
        names.push_back(fmt::to_string(thread));
        counts.push_back(letters[thread]);
    }
    Stage stage;
    stage.threads = static_cast<int>(names.size());
    CyclicWord word = spread_word(names, counts);
    for (std::string& kind : word.kinds) {
        const std::size_t thread = std::stoul(kind);
        stage.owners.push_back(number_of(thread));
        kind = kinds_[problem_.kinds[thread]];
    }
    const bool in_turn = word.letters.size() == names.size();
    if (in_turn && stage_kinds(word) == 1)
        stage.core_kind = word.kinds.front();
    else
        stage.word = std::move(word);
    return stage;
}

Schedule Cores::schedule_of(const Packing& packing) const {
    Schedule schedule;
    for (std::size_t task = 0; task < packing.tasks.size(); ++task) {
        if (task == 0 || packing.tasks[task] != packing.tasks[task - 1]) {
            schedule.stages.push_back(stage_of(packing.tasks[task]));
            schedule.stages.back().first_task = task;
        }
        ++schedule.stages.back().task_count;
        schedule.task_names.push_back(chain_.tasks[task].name);
    }
    const auto owners = schedule.owners();
    for (Stage& stage : schedule.stages) {
        bool shares = false;
        for (std::size_t thread = 0; thread < stage.owners.size(); ++thread)
            shares = shares || owners.at({stage.kind_of(thread), stage.owners[thread]}).size() > 1;
        if (!shares) stage.owners.clear();
    }
    return schedule;
}

Schedule renamed(Schedule schedule) {
    schedule.made_by = "packed";
    return schedule;
}

std::size_t cells(const Chain& chain, const Platform& platform) {
    std::size_t cores = 0;
    for (const CoreCount& kind : platform.kinds()) cores += static_cast<std::size_t>(kind.count);
    return chain.tasks.size() * cores;
}

// Nothing where its stages take halves of cores, or it cannot use the numbers.
std::optional<Schedule> whole_stages(const Chain& chain, const Platform& platform, const Objective& objective,
                                     const CostModel& model, std::size_t most_letters) {
    try {
        return renamed(mixed(chain, platform, objective, model, most_letters));
    } catch (const ScheduleError&) {
        return std::nullopt;
    }
}

bool has_halves(const Schedule& schedule) {
    return std::ranges::any_of(schedule.stages, &Stage::shares_core);
}

}  // namespace

Schedule packed(const Chain& chain, const Platform& platform, const Objective& objective,
                const CostModel& model, std::size_t most_letters, double effort) {
    if (most_letters < 1 || most_letters > kMostLetters)
        throw ScheduleError(
            fmt::format("packed: words of {} letters at most; expected 1 to {}", most_letters, kMostLetters));
    const Platform usable_cores = usable(platform, objective);
    const Bound bound = bound_of(chain, usable_cores, model);
    const Objective wish{objective.among_equals, objective.wanted_period_us};
    if (cells(chain, usable_cores) > kMostCells)
        return renamed(mixed(chain, usable_cores, wish, model, most_letters));
    std::optional<Schedule> whole = whole_stages(chain, usable_cores, wish, model, most_letters);
    const double enough_us = std::max(bound.period_us, objective.wanted_period_us.value_or(0));
    if (whole && *whole->period_us <= enough_us * kEqual) return *whole;

    Cores cores(chain, usable_cores, model, most_letters);
    PackingProblem& problem = cores.problem();
    problem.bound_us = std::max(problem.bound_us, enough_us);
    problem.effort = effort;
    Packing packing =
        whole && !has_halves(*whole) ? cores.packing_of(*whole) : internal::greedy_packing(problem);
    if (!internal::make_exact(problem, packing)) packing = internal::annealed(problem, std::move(packing));
    internal::join_neighbours(problem, packing);
    Schedule schedule = cores.schedule_of(packing);
    schedule.period_us = period_us(schedule, chain, model);
    schedule.made_by = "packed";
    if (whole && *whole->period_us <= *schedule.period_us * kEqual) return *whole;
    return schedule;
}

}  // namespace tidemill

#include "tidemill/scheduling/static/packed.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "tidemill/scheduling/static/bound.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/packing/packing.hpp"
#include "tidemill/scheduling/static/work_split.hpp"

namespace tidemill {
namespace {

using internal::Letters;
using internal::Packing;
using internal::PackingProblem;

constexpr double kEqual = 1 + 1e-9;          // of periods
constexpr std::size_t kMostCells = 100'000;  // tasks x cores that are packed within a second

/// How many cores of each of a platform's kinds have two threads.
using Halved = std::vector<int>;

/// A chain's tasks on the cores of a platform: a thread on each, or two on those that are halved.
class Cores {
  public:
    Cores(const Chain& chain, const Platform& platform, const CostModel& model, std::size_t most_letters,
          const Halved& halved)
        : chain_(chain) {
        auto halves = halved.begin();
        for (const auto& [kind, count] : platform.kinds()) {
            const int of_kind = *halves++;
            if (count == 0) continue;
            const KindCosts costs = model.kind(kind);
            const double factor = costs.slowdown.empty() ? 1 : slowdown(costs, count);
            add_threads(kind, count - of_kind, factor, false);
            add_threads(kind, 2 * of_kind, factor * costs.shared_slowdown.value_or(1), true);
        }
        for (const ChainTask& task : chain.tasks) problem_.replicable.push_back(task.replicable);
        const LeastPeriod least = least_period(work());
        problem_.bound_us = least.period;
        problem_.prices = least.prices;
        problem_.most_letters = most_letters;
    }

    PackingProblem& problem() { return problem_; }

    Packing packing_of(const Schedule& schedule) const;
    Schedule schedule_of(const Packing& packing) const;

  private:
    void add_threads(const std::string& kind, int count, double factor, bool are_halves);
    SplitWork work() const;
    Stage stage_of(const Letters& letters) const;
    int number_of(std::size_t thread) const;

    const Chain& chain_;
    std::vector<std::string> kinds_;  // halves are a kind of their own, of the same name
    PackingProblem problem_;
};

void Cores::add_threads(const std::string& kind, int count, double factor, bool are_halves) {
    if (count == 0) return;
    problem_.kinds.insert(problem_.kinds.end(), static_cast<std::size_t>(count), kinds_.size());
    problem_.halves.push_back(are_halves);
    problem_.weights_us.resize(chain_.tasks.size());
    for (std::size_t task = 0; task < chain_.tasks.size(); ++task)
        problem_.weights_us[task].push_back(chain_.tasks[task].weight_us[chain_.kind_index(kind)] * factor);
    kinds_.push_back(kind);
}

SplitWork Cores::work() const {
    SplitWork work;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
        work.ways.push_back({kind, 1});
        work.pool_units.push_back(static_cast<double>(std::ranges::count(problem_.kinds, kind)));
    }
    for (std::size_t task = 0; task < chain_.tasks.size(); ++task) {
        const std::vector<double>& weights_us = problem_.weights_us[task];
        work.weights.insert(work.weights.end(), weights_us.begin(), weights_us.end());
        work.sequential.push_back(!chain_.tasks[task].replicable);
    }
    return work;
}

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

// Among those of its kind, whole cores and halves, from 1.
int Cores::number_of(std::size_t thread) const {
    const std::string& name = kinds_[problem_.kinds[thread]];
    const auto first =
        std::ranges::find(problem_.kinds, name, [&](std::size_t kind) { return kinds_[kind]; });
    return static_cast<int>(thread - static_cast<std::size_t>(first - problem_.kinds.begin())) + 1;
}

std::size_t stage_kinds(const CyclicWord& word) {
    return std::set<std::string>(word.kinds.begin(), word.kinds.end()).size();
}

// The word's threads are numbered by its letters, so each goes by the name of its place meanwhile.
Stage Cores::stage_of(const Letters& letters) const {
    Stage stage;
    std::vector<std::string> names;
    std::vector<std::size_t> counts;
    for (std::size_t thread = 0; thread < letters.size(); ++thread) {
        if (letters[thread] == 0) continue;
        names.push_back(fmt::to_string(thread));
        counts.push_back(letters[thread]);
        stage.shares_core = problem_.halves[problem_.kinds[thread]];
    }
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

// The best of schedules whose stages own their threads: mixed stages, or plain ones where mixed() refuses the
// numbers; nothing where herad() refuses them, too.
std::optional<Schedule> whole_stages(const Chain& chain, const Platform& platform, const Objective& objective,
                                     const CostModel& model, std::size_t most_letters) {
    try {
        return renamed(mixed(chain, platform, objective, model, most_letters));
    } catch (const ScheduleError&) {
    }
    try {
        return renamed(herad(chain, platform, objective, model));
    } catch (const ScheduleError&) {
        return std::nullopt;
    }
}

bool has_longer_words(const Schedule& schedule, std::size_t most_letters) {
    return std::ranges::any_of(schedule.stages, [&](const Stage& stage) {
        return stage.word && stage.word->letters.size() > most_letters;
    });
}

bool has_halves(const Schedule& schedule) {
    return std::ranges::any_of(schedule.stages, &Stage::shares_core);
}

// None first; of many cores of a kind, all or none.
std::vector<Halved> ways_to_halve(const Platform& platform, const CostModel& model) {
    constexpr int kFew = 4;
    std::vector<Halved> ways{{}};
    for (const auto& [kind, count] : platform.kinds()) {
        const int most = model.kind(kind).shared_slowdown ? count : 0;
        std::vector<Halved> longer;
        for (int halved = 0; halved <= most; halved += most <= kFew ? 1 : most) {
            for (Halved way : ways) {
                way.push_back(halved);
                longer.push_back(std::move(way));
            }
        }
        ways = std::move(longer);
    }
    return ways;
}

/// The search for packings with some cores halved, and what it needs of the others.
struct Search {
    const Chain& chain;
    const Platform& platform;
    const CostModel& model;
    const Objective& objective;
    std::size_t most_letters;
    double enough_us;
    std::optional<Schedule> start;  // of the search where no core is halved

    Schedule schedule(const Halved& halved, double effort) const;
};

Schedule Search::schedule(const Halved& halved, double effort) const {
    Cores cores(chain, platform, model, most_letters, halved);
    PackingProblem& problem = cores.problem();
    problem.bound_us = std::max(problem.bound_us, enough_us);
    problem.effort = effort;
    const bool starts_there =
        start && !has_halves(*start) && std::ranges::count(halved, 0) == std::ssize(halved);
    Packing packing = starts_there ? cores.packing_of(*start) : internal::greedy_packing(problem);
    if (!internal::make_exact(problem, packing)) packing = internal::annealed(problem, std::move(packing));
    internal::join_neighbours(problem, packing);
    if (const auto wanted_us = objective.wanted_period_us)
        internal::shorten_frames(problem, packing, std::max(packing.period_us, *wanted_us));
    Schedule schedule = cores.schedule_of(packing);
    schedule.period_us = period_us(schedule, chain, model);
    schedule.made_by = "packed";
    return schedule;
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
    if (cells(chain, usable_cores) > kMostCells) return renamed(mixed(chain, usable_cores, wish, model));
    const std::optional<Schedule> whole = whole_stages(chain, usable_cores, wish, model, kMostLetters);
    const double enough_us = std::max(bound.period_us, objective.wanted_period_us.value_or(0));
    if (whole && *whole->period_us <= enough_us * kEqual) return *whole;

    Search search{chain, usable_cores, model, objective, most_letters, enough_us, whole};
    if (whole && has_longer_words(*whole, most_letters))
        search.start = whole_stages(chain, usable_cores, wish, model, most_letters);
    const std::vector<Halved> ways = ways_to_halve(usable_cores, model);
    Schedule schedule = search.schedule(ways.front(), effort);
    for (std::size_t way = 1; way < ways.size() && *schedule.period_us > enough_us * kEqual; ++way) {
        Schedule other = search.schedule(ways[way], effort / static_cast<double>(ways.size() - 1));
        if (*other.period_us * kEqual < *schedule.period_us) schedule = std::move(other);
    }
    if (whole && *whole->period_us <= *schedule.period_us * kEqual) return *whole;
    return schedule;
}

}  // namespace tidemill

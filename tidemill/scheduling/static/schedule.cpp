#include "tidemill/scheduling/static/schedule.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/base/plural.hpp"

namespace tidemill {
namespace {

std::string label(const Stage& stage, const Chain& chain) {
    const auto tasks = tasks_of(stage, chain);
    if (tasks.size() == 1) return tasks.front().name;
    return fmt::format("{} .. {}", tasks.front().name, tasks.back().name);
}

// Half cores as "6/2".
std::string cores_label(const Stage& stage) {
    return fmt::format("{}{}", stage.threads, stage.shares_core ? "/2" : "");
}

// In batches as "gpu by 64".
std::string kind_label(const Stage& stage) {
    return stage.batch ? fmt::format("{} by {}", stage.core_kind, *stage.batch) : stage.kind_names();
}

// Names for a stage's word: those of its threads' owners where it has any.
std::vector<std::string> names_of_turns(const Stage& stage) {
    if (stage.owners.empty()) return letter_names(*stage.word);
    std::vector<std::string> names;
    for (const std::size_t thread : stage.word->letters)
        names.push_back(fmt::format("{}:{}", stage.kind_of(thread), stage.owners[thread]));
    return names;
}

// Turns of threads in mixed stages, a line for each.
std::string word_lines(const Schedule& schedule) {
    std::string lines;
    for (std::size_t s = 0; s < schedule.stages.size(); ++s)
        if (const Stage& stage = schedule.stages[s]; stage.word)
            lines += fmt::format("turns of stage {}: {}\n", s + 1, fmt::join(names_of_turns(stage), " "));
    return lines;
}

// Stages of threads that own several, a line for each: "big:1 has stages 1 and 3: 54.00 us, 98 %".
std::string owner_lines(const Schedule& schedule, const Chain& chain, const CostModel& model, double period) {
    std::string lines;
    const std::map<Owner, double> weights_us = owner_weights_us(schedule, chain, model);
    for (const auto& [owner, seats] : schedule.owners()) {
        std::vector<std::size_t> numbers;
        for (const Seat& seat : seats) numbers.push_back(seat.stage + 1);
        const double weight_us = weights_us.at(owner);
        lines += fmt::format("{}:{} has stage{} {}: {:.2f} us, {:.0f} %\n", owner.kind, owner.number,
                             plural(numbers.size()), fmt::join(numbers, ", "), weight_us,
                             period > 0 ? 100 * weight_us / period : 100.0);
    }
    return lines;
}

void check_covers(const Schedule& schedule, const Chain& chain) {
    if (schedule.stages.empty()) throw ScheduleError("schedule: no stages; there must be at least one");
    std::size_t next = 0;
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        const Stage& stage = schedule.stages[s];
        if (stage.task_count == 0)
            throw ScheduleError(fmt::format("schedule: stage {} has no tasks, expected at least 1", s + 1));
        if (stage.first_task != next)
            throw ScheduleError(fmt::format("schedule: stage {} begins at task {}, expected {}", s + 1,
                                            stage.first_task + 1, next + 1));
        // Not next + count > size: a count near the top of its type would wrap round.
        if (stage.task_count > chain.tasks.size() - next)
            throw ScheduleError(
                fmt::format("schedule: stages 1 to {} have more tasks than the chain, which has {}", s + 1,
                            chain.tasks.size()));
        next += stage.task_count;
    }
    if (next != chain.tasks.size())
        throw ScheduleError(
            fmt::format("schedule: its stages have {} tasks, expected {} (the chain's length)", next,
                        chain.tasks.size()));
}

void check_names(const Schedule& schedule, const Chain& chain) {
    if (schedule.task_names.empty()) return;
    if (schedule.task_names.size() != chain.tasks.size())
        throw ScheduleError(fmt::format("schedule: {} task names, expected {} (the chain's length)",
                                        schedule.task_names.size(), chain.tasks.size()));
    for (std::size_t i = 0; i < chain.tasks.size(); ++i)
        if (schedule.task_names[i] != chain.tasks[i].name)
            throw ScheduleError(
                fmt::format("schedule: task {} is named '{}', expected '{}': it was made for "
                            "another chain",
                            i + 1, schedule.task_names[i], chain.tasks[i].name));
}

void check_threads(const Stage& stage, std::size_t number, const Chain& chain) {
    if (stage.threads < 1)
        throw ScheduleError(
            fmt::format("schedule: stage {} has {} threads, expected at least 1", number, stage.threads));
    if (stage.threads == 1) return;
    const auto tasks = tasks_of(stage, chain);
    const auto sequential = std::ranges::find(tasks, false, &ChainTask::replicable);
    if (sequential != tasks.end())
        throw ScheduleError(
            fmt::format("schedule: stage {} has {} threads, expected 1: task '{}' is not replicable", number,
                        stage.threads, sequential->name));
}

void check_runs(const Stage& stage, std::size_t number, const Chain& chain, const std::string& kind) {
    const std::size_t index = chain.kind_index(kind);
    for (const ChainTask& task : tasks_of(stage, chain))
        if (task.weight_us[index] == kCannotRun)
            throw ScheduleError(fmt::format("schedule: stage {} is on '{}', where task '{}' cannot run",
                                            number, kind, task.name));
}

void check_kinds(const Stage& stage, std::size_t number, const Chain& chain) {
    for (const CoreCount& kind : stage.cores()) check_runs(stage, number, chain, kind.kind);
    for (const ChainTask& task : tasks_of(stage, chain)) {
        const BatchCost* cost = batch_cost(task, stage.core_kind);
        const int most = cost ? cost->most_frames : 0;
        if (stage.batch && (*stage.batch < 1 || *stage.batch > most))
            throw ScheduleError(fmt::format(
                "schedule: stage {} takes batches of {} on '{}', expected {}", number, *stage.batch,
                stage.core_kind,
                cost ? fmt::format("1 to {}", most) : fmt::format("none for task '{}'", task.name)));
    }
}

void check_owners_of(const Stage& stage, std::size_t number) {
    if (stage.owners.empty()) return;
    if (stage.owners.size() != static_cast<std::size_t>(stage.threads))
        throw ScheduleError(fmt::format("schedule: stage {} has {} owners, expected {} (one for each thread)",
                                        number, stage.owners.size(), stage.threads));
    if (std::ranges::any_of(stage.owners, [](int owner) { return owner < 1; }))
        throw ScheduleError(
            fmt::format("schedule: an owner of stage {} has a number below 1, expected 1 or more", number));
    if (stage.batch)
        throw ScheduleError(
            fmt::format("schedule: stage {} takes batches, so its threads have no other "
                        "stages; remove its owners or its batch",
                        number));
}

int cores_of(const std::vector<CoreCount>& cores, std::string_view kind) {
    const auto found = std::ranges::find(cores, kind, &CoreCount::kind);
    return found == cores.end() ? 0 : found->count;
}

template <class Enum, std::size_t size>
std::optional<Enum> parse_name(const std::array<std::string_view, size>& names, std::string_view text) {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::span<const ChainTask> tasks_of(const Stage& stage, const Chain& chain) {
    return std::span(chain.tasks).subspan(stage.first_task, stage.task_count);
}

std::vector<CoreCount> Stage::cores() const {
    if (!word) return {{core_kind, threads}};
    std::vector<CoreCount> cores;
    for (const std::string& kind : word->kinds) {
        const auto found = std::ranges::find(cores, kind, &CoreCount::kind);
        if (found == cores.end())
            cores.push_back({kind, 1});
        else
            ++found->count;
    }
    return cores;
}

std::string Stage::kind_names() const {
    std::string names;
    for (const CoreCount& kind : cores()) names += (names.empty() ? "" : "+") + kind.kind;
    return names;
}

std::size_t Schedule::task_count() const {
    return std::accumulate(stages.begin(), stages.end(), std::size_t{0},
                           [](std::size_t sum, const Stage& stage) { return sum + stage.task_count; });
}

int Schedule::thread_count() const {
    return std::accumulate(
        stages.begin(), stages.end(), static_cast<int>(owners().size()),
        [](int sum, const Stage& stage) { return stage.owners.empty() ? sum + stage.threads : sum; });
}

std::map<Owner, std::vector<Seat>> Schedule::owners() const {
    std::map<Owner, std::vector<Seat>> owners;
    for (std::size_t s = 0; s < stages.size(); ++s)
        for (std::size_t thread = 0; thread < stages[s].owners.size(); ++thread)
            owners[{stages[s].kind_of(thread), stages[s].owners[thread]}].push_back({s, thread});
    return owners;
}

double power_w(const Schedule& schedule, const Platform& platform, const CostModel& model) {
    const std::vector<CoreCount> used = cores_used(schedule);
    double power = 0;
    for (const auto& [name, count] : platform.kinds()) {
        const KindCosts kind = model.kind(name);
        const int busy = cores_of(used, name);
        power += busy * kind.busy_w + (count - busy) * kind.idle_w;
    }
    return power;
}

std::vector<CoreCount> cores_used(const Schedule& schedule) {
    std::vector<CoreCount> halves;
    const auto add = [&](const std::string& kind, int count) {
        const auto found = std::ranges::find(halves, kind, &CoreCount::kind);
        if (found == halves.end())
            halves.push_back({kind, count});
        else
            found->count += count;
    };
    std::set<Owner> counted;
    for (const Stage& stage : schedule.stages) {
        const int each = stage.shares_core ? 1 : 2;
        if (stage.owners.empty())
            for (const auto& [kind, threads] : stage.cores()) add(kind, each * threads);
        for (std::size_t thread = 0; thread < stage.owners.size(); ++thread)
            if (const Owner owner{stage.kind_of(thread), stage.owners[thread]}; counted.insert(owner).second)
                add(owner.kind, each);
    }
    for (CoreCount& kind : halves) kind.count = (kind.count + 1) / 2;
    return halves;
}

void check(const Schedule& schedule, const Chain& chain) {
    check_covers(schedule, chain);
    check_names(schedule, chain);
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        const Stage& stage = schedule.stages[s];
        check_threads(stage, s + 1, chain);
        check_word(stage, s + 1);
        check_kinds(stage, s + 1, chain);
        if (stage.sync_buff_size && *stage.sync_buff_size < 1)
            throw ScheduleError(fmt::format("schedule: stage {} has sync_buff_size {}, expected at least 1",
                                            s + 1, *stage.sync_buff_size));
    }
    check_owners(schedule);
    check_frames_in_flight(schedule);
    const Stage& last = schedule.stages.back();
    if (last.sync_buff_size || last.waiting)
        throw ScheduleError(
            fmt::format("schedule: stage {} is the last and has no ring after it; remove its "
                        "sync_buff_size and sync_waiting_type",
                        schedule.stages.size()));
}

void check_word(const Stage& stage, std::size_t number) {
    if (!stage.word) return;
    if (const std::string fault = fault_of(*stage.word); !fault.empty())
        throw ScheduleError(fmt::format("schedule: the word of stage {} {}", number, fault));
    if (static_cast<std::size_t>(stage.threads) != stage.word->kinds.size())
        throw ScheduleError(fmt::format("schedule: stage {} has {} threads, expected {} (those of its word)",
                                        number, stage.threads, stage.word->kinds.size()));
    if (!stage.core_kind.empty() || stage.shares_core || stage.batch)
        throw ScheduleError(
            fmt::format("schedule: stage {} has a word, so each of its threads has a core of its own, of the "
                        "word's kinds, and takes one frame at a time; remove what it says else of that",
                        number));
}

void check_owners(const Schedule& schedule) {
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) check_owners_of(schedule.stages[s], s + 1);
    for (const auto& [owner, seats] : schedule.owners()) {
        for (std::size_t i = 1; i < seats.size(); ++i) {
            const Stage& first = schedule.stages[seats[0].stage];
            const Stage& other = schedule.stages[seats[i].stage];
            if (seats[i].stage == seats[i - 1].stage)
                throw ScheduleError(
                    fmt::format("schedule: two threads of stage {} are '{}:{}', expected different ones",
                                seats[i].stage + 1, owner.kind, owner.number));
            if (first.pinning != other.pinning || first.shares_core != other.shares_core)
                throw ScheduleError(
                    fmt::format("schedule: stages {} and {} share the thread '{}:{}' but not its "
                                "pinning-policy or shares-core; give both the same",
                                seats[0].stage + 1, seats[i].stage + 1, owner.kind, owner.number));
        }
    }
}

void check_frames_in_flight(const Schedule& schedule) {
    if (schedule.frames_in_flight.value_or(1) < 1)
        throw ScheduleError(
            fmt::format("schedule: {} frames in flight, expected at least 1", *schedule.frames_in_flight));
}

void check(const Schedule& schedule, const Platform& platform) {
    for (const auto& [kind, count] : cores_used(schedule))
        if (count > platform.count(kind))
            throw ScheduleError(fmt::format("schedule: uses {} '{}' cores, expected at most {}", count, kind,
                                            platform.count(kind)));
}

std::string to_string(const NodeRange& range) {
    const char* const unit = range.unit == NodeRange::Unit::kPu ? "PU" : "core";
    if (range.first == range.last) return fmt::format("{}{}", unit, range.first);
    return fmt::format("{}{}-{}", unit, range.first, range.last);
}

std::optional<Pinning> parse_pinning(std::string_view text) {
    return parse_name<Pinning>(kPinningNames, text);
}

std::optional<WaitMode> parse_waiting(std::string_view text) {
    return parse_name<WaitMode>(kWaitingNames, text);
}

std::string to_table(const Schedule& schedule, const Chain& chain, const CostModel& model) {
    const double period = period_us(schedule, chain, model);
    const std::vector<double> weights_us = stage_weights_us(schedule, chain, model);
    std::size_t width = 5;
    std::size_t kinds = 8;
    for (const Stage& stage : schedule.stages) {
        width = std::max(width, label(stage, chain).size());
        kinds = std::max(kinds, kind_label(stage).size());
    }

    std::string table = fmt::format("stage  {:<{}}  count  cores  {:<{}}  {:>12}  load\n", "tasks", width,
                                    "kind", kinds, "weight (us)");
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        const Stage& stage = schedule.stages[s];
        const double load = period > 0 ? weights_us[s] / period : 1.0;
        table += fmt::format("{:>5}  {:<{}}  {:>5}  {:>5}  {:<{}}  {:>12.2f}  {:>3.0f}%\n", s + 1,
                             label(stage, chain), width, stage.task_count, cores_label(stage),
                             kind_label(stage), kinds, weights_us[s], 100 * load);
    }
    return table + word_lines(schedule) + owner_lines(schedule, chain, model, period) +
           fmt::format("period {:.2f} us on {}\n", period, in_words(cores_used(schedule))) +
           missing_words(chain);
}

}  // namespace tidemill

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "tidemill/base/plural.hpp"
#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/lab/sim/published.hpp"
#include "tidemill/scheduling/model/pipeline_model.hpp"
#include "tidemill/scheduling/static/schedule_file.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

// The example that the paper follows through its strategies. Its weights are in a picture only, so ours are
// made for what the text says of each step.
namespace tidemill::cli {

namespace {

constexpr Platform kCores{.big = 3, .little = 3};

Chain example_chain() {
    return {.kinds = {"big", "little"},
            .tasks = {{.name = "t1", .weight_us = {10, 10}},
                      {.name = "t2", .weight_us = {6, 10}},
                      {.name = "t3", .replicable = true, .weight_us = {10, 21}},
                      {.name = "t4", .replicable = true, .weight_us = {2, 4}},
                      {.name = "t5", .weight_us = {3, 6}}}};
}

ResultTable chain_table(const Chain& chain) {
    ResultTable table{"Fig. 1: a chain of five tasks", {{"task"}, {"replicable"}, {"big", 0}, {"little", 0}}};
    for (const ChainTask& task : chain.tasks) {
        table.rows.push_back(
            {task.name, task.replicable ? "yes" : "no", task.weight_us[0], task.weight_us[1]});
    }
    table.notes.emplace_back(
        "Weights are ours: the figure is a picture, and its text tells what follows from them.");
    add_no_verdicts(table, "the weights are a picture.");
    return table;
}

ResultTable stages_table(const Chain& chain, std::string_view name, std::string_view figure) {
    const Schedule schedule = strategy(name).schedule(chain, kCores);
    ResultTable table{fmt::format("{}: the stages of {} on 3 big and 3 little cores", figure, name),
                      {{"stage", 0}, {"tasks"}, {"cores"}, {"weight", 2}}};
    for (const Stage& stage : schedule.stages) {
        const std::size_t last = stage.first_task + stage.task_count;
        double weight = 0;
        for (std::size_t i = stage.first_task; i < last; ++i)
            weight += chain.tasks[i].weight_us[chain.kind_index(stage.core_kind)];
        const std::string tasks = stage.task_count == 1
                                      ? fmt::format("t{}", last)
                                      : fmt::format("t{} to t{}", stage.first_task + 1, last);
        table.rows.push_back({static_cast<double>(table.rows.size() + 1), tasks,
                              fmt::format("{} {}", stage.threads, stage.core_kind), weight / stage.threads});
    }
    table.notes.push_back(fmt::format("Period {:.2f}.", period_us(schedule, chain)));
    return table;
}

// HeRAD's matrix: the least period of the first tasks, by cores.
ResultTable matrix_table(const Chain& chain, std::size_t tasks) {
    Chain first = chain;
    first.tasks.resize(tasks);
    ResultTable table{fmt::format("Fig. 4: the least period of the first {} task{}", tasks, plural(tasks)),
                      {{"big cores", 0}}};
    for (int little = 0; little <= kCores.little; ++little)
        table.columns.push_back({fmt::format("{} little", little)});
    for (int big = 0; big <= kCores.big; ++big) {
        std::vector<Cell> row{static_cast<double>(big)};
        for (int little = 0; little <= kCores.little; ++little) {
            const bool none = big + little == 0;
            row.push_back(
                none ? Cell{}
                     : Cell{period_us(strategy("herad").schedule(first, {.big = big, .little = little}),
                                      first)});
        }
        table.rows.push_back(std::move(row));
    }
    add_no_verdicts(table, "the published matrix is of weights that are a picture.");
    return table;
}

// The stages of Fig. 2, as its text has them.
Verdict is_as_in_fig2(const std::vector<Cell>& row) {
    constexpr std::array<std::pair<const char*, const char*>, 4> kStages{
        {{"t1", "1 little"}, {"t2", "1 little"}, {"t3", "1 big"}, {"t4 to t5", "1 little"}}};
    const auto stage = static_cast<std::size_t>(std::get<double>(row[0]));
    return yes_if(stage <= kStages.size() && row[1] == Cell{kStages[stage - 1].first} &&
                  row[2] == Cell{kStages[stage - 1].second});
}

int big_cores(const Schedule& schedule) {
    int cores = 0;
    for (const Stage& stage : schedule.stages) cores += stage.core_kind == "big" ? stage.threads : 0;
    return cores;
}

// On the example's cores, no strategy needs fewer big cores for a period that is no longer.
Verdict is_no_worse(const Chain& chain, std::string_view name) {
    const Schedule ours = strategy(name).schedule(chain, kCores);
    const Schedule other = strategy("fertac").schedule(chain, kCores);
    const double ours_us = period_us(ours, chain), others_us = period_us(other, chain);
    return yes_if(ours_us < others_us || (ours_us == others_us && big_cores(ours) <= big_cores(other)));
}

}  // namespace

std::vector<ResultTable> fig1_to_4(const ReproduceOptions&) {
    const Chain chain = example_chain();
    std::vector<ResultTable> tables{chain_table(chain), stages_table(chain, "fertac", "Fig. 2"),
                                    stages_table(chain, "2catac", "Fig. 3")};
    tables[1].notes.emplace_back(
        "Published: t1 and t2 on a little core each, t3 on a big one, t4 and t5 on the last little one.");
    tables[2].notes.emplace_back(
        "Published: of equal periods, the one that uses as many little cores and fewer big.");
    for (std::size_t tasks = 1; tasks <= chain.tasks.size(); ++tasks)
        tables.push_back(matrix_table(chain, tasks));
    tables.push_back(stages_table(chain, "herad", "Fig. 4, at the bottom"));
    add_verdicts(tables[1], "a stage has the tasks and cores that the text says.", is_as_in_fig2);
    for (const auto& [table, name] : {std::pair{&tables[2], "2catac"}, {&tables.back(), "herad"}})
        add_verdicts(*table,
                     "the period is no longer than FERTAC's, with no more big cores where it is equal.",
                     [&, name = name](const std::vector<Cell>&) { return is_no_worse(chain, name); });
    return tables;
}

std::vector<ResultTable> fig8(const ReproduceOptions&) {
    ResultTable table{
        "Fig. 8: buffers between two stages by their threads",
        {{"threads", 0}, {"threads behind", 0}, {"all pairs publ.", 0}, {"least publ.", 0}, {"ours", 0}}};
    for (const auto& [first, second] : {std::pair{1, 4}, {4, 1}, {2, 3}, {4, 6}, {5, 8}, {8, 8}}) {
        const Schedule schedule{.stages = {{0, 1, first, "big"}, {1, 1, second, "big"}}};
        const Chain chain{.kinds = {"big"},
                          .tasks = {{.name = "t1", .replicable = true, .weight_us = {1}},
                                    {.name = "t2", .replicable = true, .weight_us = {1}}}};
        table.rows.push_back({double(first), double(second), double(first * second),
                              double(std::lcm(first, second)), double(model_of(schedule, chain).tokens)});
    }
    table.notes.emplace_back(
        "Published: a buffer for each pair of threads, or, as the least, the least common multiple of both "
        "numbers. "
        "Ours is one ring of tokens for both stages: one for each thread and one that waits.");
    add_no_verdicts(table, "a ring of tokens is no buffer between two threads.");
    return {table};
}

std::vector<ResultTable> fig9(const ReproduceOptions&) {
    const Chain chain = example_chain();
    Schedule schedule = strategy("fertac").schedule(chain, kCores);
    schedule.resources = parse_core_kinds("big=core0-2,little=core3-5");  // as published
    ResultTable table{"Fig. 9: FERTAC's solution of the example as a file",
                      {{"stage", 0}, {"tasks", 0}, {"threads", 0}, {"core-type"}}};
    for (const Stage& stage : schedule.stages) {
        table.rows.push_back({static_cast<double>(table.rows.size() + 1),
                              static_cast<double>(stage.task_count), static_cast<double>(stage.threads),
                              stage.core_kind});
    }
    table.notes.push_back(to_json(schedule));
    table.notes.emplace_back(
        "Published: resources, then for each stage tasks, threads, core-type and, where wanted, "
        "pinning-policy, "
        "sync-buff-size and sync-waiting-type.");
    add_verdicts(table,
                 "a stage has as many tasks, threads and cores of the kind as the text of Fig. 2 says.",
                 [](const std::vector<Cell>& row) {
                     const auto stage = static_cast<std::size_t>(std::get<double>(row[0]));
                     return yes_if(row[1] == Cell{stage == 4 ? 2.0 : 1.0} && row[2] == Cell{1.0} &&
                                   row[3] == Cell{stage == 3 ? "big" : "little"});
                 });
    return {table};
}

std::vector<ResultTable> table2(const ReproduceOptions&) {
    ResultTable table{"Table 2: the receiver's tasks, us per execution (big, little)",
                      {{"task"}, {"replicable"}}};
    std::vector<Profile> profiles;
    for (const char* platform : {"opi5", "m1u", "ai370", "x7ti"}) {
        profiles.push_back(published_profile(platform));
        for (const char* kind : {"big", "little"})
            table.columns.push_back({fmt::format("{} {}", platform, kind), 1});
    }
    std::vector<double> totals(2 * profiles.size());
    for (std::size_t task = 0; task < profiles.front().tasks.size(); ++task) {
        const ChainTask& first = profiles.front().tasks[task];
        std::vector<Cell> row{first.name, first.replicable ? "yes" : "no"};
        for (std::size_t i = 0; i < totals.size(); ++i) {
            const Profile& profile = profiles[i / 2];
            const double us =
                profile.tasks[task].weight_us[profile.kind_index(i % 2 == 0 ? "big" : "little")];
            totals[i] += us;
            row.emplace_back(us);
        }
        table.rows.push_back(std::move(row));
    }
    std::vector<Cell> sums{"in all", ""};
    std::vector<Cell> rates{"Mb/s in order", ""};
    for (std::size_t i = 0; i < totals.size(); ++i) {
        sums.emplace_back(totals[i]);
        rates.emplace_back(mbps(profiles[i / 2], totals[i]));
    }
    table.rows.push_back(std::move(sums));
    table.rows.push_back(std::move(rates));
    table.notes.emplace_back(
        "As published; 4, 4, 16 and 8 frames per execution. Our receiver has other tasks, so none stands "
        "beside.");
    add_no_verdicts(table, "the times are those that were published.");
    return {table};
}

}  // namespace tidemill::cli

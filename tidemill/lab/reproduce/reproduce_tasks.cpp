#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/lab/sim/policy_study.hpp"
#include "tidemill/lab/sim/streamit.hpp"
#include "tidemill/lab/sim/task_graphs.hpp"
#include "tidemill/scheduling/dynamic/gpriority.hpp"
#include "tidemill/scheduling/dynamic/ranked.hpp"

// The chapter on run-time decisions: what policies make of programs. What was published as a curve is quoted
// in words.
namespace tidemill::cli {

namespace {

constexpr const char* kHowProgramsRun =
    "Simulated. The mean task of a benchmark takes 1 ms; adaptive policies look every 100 ms. Speeds are "
    "compared between half and 95 % of the tasks.";
constexpr const char* kCosts =
    "Costs are our choice: 10 ns for a unit of work, 1 us to create a task, 1 us to issue and complete it, "
    "0.1 "
    "us for each priority of another task that a creation changes; the master works when it is held back. "
    "All "
    "firings of an iteration are one task.";

std::vector<std::string> policies_but(std::vector<std::string> without) {
    without.emplace_back("priority");
    std::vector<std::string> names;
    for (const policy::PolicyName& each : policy::policies()) {
        if (std::ranges::count(without, each.name) == 0) names.emplace_back(each.name);
    }
    return names;
}

std::vector<std::string> streams() {
    const std::vector<std::string_view> names = streamit_names();
    return {names.begin(), names.end()};
}

PolicyStudy streamit_study(const ReproduceOptions& options, std::vector<std::string> policies) {
    return {.programs = streams(),
            .policies = std::move(policies),
            .workers = {4, 8, 16},
            .tasks_per_worker = options.tasks,
            .window = {.iterations = 8},
            .progress = options.progress};
}

// As in the chapter, task types are unrolled and tasks cost something.
PolicyStudy costly_study(const ReproduceOptions& options) {
    PolicyStudy study = streamit_study(options, policies_but({}));
    study.size = {.work_unit_us = 0.01, .coarse = true};
    study.machine = {.create_us = 1, .change_us = 0.1, .task_us = 1};
    return study;
}

std::vector<ResultTable> detail_tables(const std::string& figure, const std::vector<PolicyResult>& results,
                                       const std::vector<std::string>& policies) {
    ResultTable speed{fmt::format("{}: speed as a share of the best policy's", figure),
                      {{"program"}, {"workers", 0}}};
    ResultTable memory{fmt::format("{}: peak memory as a multiple of the sequential program's", figure),
                       {{"program"}, {"workers", 0}}};
    for (const std::string& policy : policies) {
        speed.columns.push_back({policy, 3});
        memory.columns.push_back({policy, 2});
    }
    for (std::size_t i = 0; i < results.size(); i += policies.size()) {
        std::vector<Cell> of_best{results[i].program, double(results[i].workers)};
        std::vector<Cell> ratio = of_best;
        for (std::size_t j = i; j < i + policies.size(); ++j) {
            of_best.emplace_back(results[j].of_best);
            ratio.emplace_back(results[j].memory_ratio);
        }
        speed.rows.push_back(std::move(of_best));
        memory.rows.push_back(std::move(ratio));
    }
    return {speed, memory};
}

ResultTable summary_table(const std::string& title, const PolicyStudy& study) {
    const std::vector<PolicyResult> results = study_policies(study);
    ResultTable table{title,
                      {{"policy"},
                       {"mean speed / best", 3},
                       {"worst", 3},
                       {"where"},
                       {"mean memory", 2},
                       {"worst memory", 2}}};
    for (const std::string& policy : study.policies) {
        const PolicySummary summary = summary_of(policy, results);
        table.rows.push_back({policy, summary.mean_of_best, summary.least_of_best, summary.least_program,
                              summary.mean_memory_ratio, summary.most_memory_ratio});
    }
    return table;
}

}  // namespace

std::vector<ResultTable> fig4_3(const ReproduceOptions& options) {
    ResultTable table{
        "Fig. 4.3: percentage of the time with so many tasks ready and not running, channelvocoder "
        "under oldest",
        {{"workers", 0}, {"0", 1}, {"1-4", 1}, {"5-9", 1}, {"10-19", 1}, {"20-49", 1}, {"50+", 1}}};
    for (const unsigned workers : {1u, 6u, 16u}) {
        const auto program =
            make_task_program("channelvocoder", {.tasks = options.tasks * workers, .coarse = true});
        const SimulatedTasks report = simulate_tasks(*program, {.speeds = std::vector<double>(workers, 1.0)},
                                                     {.policy = "oldest", .window = {.iterations = 8}});
        std::vector<Cell> row{double(workers)};
        const std::size_t ends[] = {1, 5, 10, 20, 50, report.ready_share.size()};
        std::size_t begin = 0;
        for (const std::size_t end : ends) {
            double share = 0;
            for (; begin < std::min(end, report.ready_share.size()); ++begin)
                share += report.ready_share[begin];
            row.emplace_back(100 * share);
        }
        table.rows.push_back(std::move(row));
    }
    table.notes.emplace_back("All firings of an iteration are one task; window 8 iterations.");
    table.notes.emplace_back(
        "Published: the number stays in a narrow region, so a throttle on ready tasks stalls too often or "
        "never.");
    add_verdicts(table, "for four fifths of the time the number is within two neighbouring columns.",
                 [](const std::vector<Cell>& row) {
                     double most = 0;
                     for (std::size_t i = 1; i + 1 < row.size(); ++i)
                         most = std::max(most, std::get<double>(row[i]) + std::get<double>(row[i + 1]));
                     constexpr double kFourFifths = 80;
                     return yes_if(most >= kFourFifths);
                 });
    return {table};
}

std::vector<ResultTable> fig4_13(const ReproduceOptions&) {
    const auto program = h264(25);
    policy::Ranked<policy::Gpriority> learning(std::vector<policy::KindId>(16), policy::Gpriority(16, {}));
    simulate_tasks(*program, {.speeds = std::vector<double>(16, 1.0)},
                   {.window = {.iterations = 8}, .made = &learning});
    ResultTable types{"Fig. 4.13: task types of the H.264 decoder's skeleton, 25 frames of 1920x1080",
                      {{"task type"}, {"tasks", 0}}};
    ResultTable edges{"and what each waits for: edges seen, and how many tasks later on average",
                      {{"from"}, {"to"}, {"seen", 0}, {"distance", 1}}};
    for (policy::TaskTypeId to = 0; to < program->types().size(); ++to) {
        types.rows.push_back({program->types()[to], double(learning.rule().tasks_of(to))});
        for (const policy::TypeEdges::Edge& edge : learning.rule().edges().before(to)) {
            edges.rows.push_back(
                {program->types()[edge.from], program->types()[to], double(edge.seen), edge.mean_distance()});
        }
    }
    types.notes.emplace_back("Published: Scan is called 25 times, once per frame.");
    edges.notes.emplace_back(
        "Published: macroblock decoding waits for its own tasks 1, 31 and 30 before, 20.7 on average, a "
        "little "
        "less at the borders.");
    add_verdicts(types, "Scan is called 25 times; of the others nothing is said.",
                 [](const std::vector<Cell>& row) {
                     const bool is_scan = std::get<std::string>(row[0]).starts_with("scan");
                     return is_scan ? yes_if(row[1] == Cell{25.0}) : Verdict::cannot_tell;
                 });
    add_verdicts(edges, "macroblock decoding waits for its own tasks 20.7 before, or up to 5 % less.",
                 [](const std::vector<Cell>& row) {
                     if (row[0] != Cell{"macroblock-decode"} || row[1] != row[0]) return Verdict::cannot_tell;
                     constexpr double kPublished = 20.7, kAtBorders = 0.95;
                     const double distance = std::get<double>(row[3]);
                     return yes_if(kAtBorders * kPublished <= distance && distance <= kPublished);
                 });
    return {types, edges};
}

std::vector<ResultTable> fig4_14(const ReproduceOptions& options) {
    PolicyStudy study = costly_study(options);
    study.workers = {1, 2, 4, 8, 16};
    study.whole = true;
    ResultTable table{"Fig. 4.14: efficiency under the best policy where tasks cost something",
                      {{"program"}}};
    for (const unsigned workers : study.workers) table.columns.push_back({fmt::format("{}", workers), 3});
    table.columns.push_back({"master busy at 16, %", 1});
    const std::vector<PolicyResult> results = study_policies(study);
    for (std::size_t i = 0; i < results.size();) {
        std::vector<Cell> row{results[i].program};
        double master = 0;
        for (std::size_t count = 0; count < study.workers.size(); ++count, i += study.policies.size()) {
            const auto same = std::span(results).subspan(i, study.policies.size());
            const PolicyResult& best = *std::ranges::max_element(same, {}, &PolicyResult::of_best);
            row.emplace_back(best.report.efficiency(best.workers));
            master = best.report.master_share;
        }
        row.emplace_back(100 * master);
        table.rows.push_back(std::move(row));
    }
    table.notes.emplace_back(kCosts);
    table.notes.emplace_back(
        "Published: five benchmarks keep 0.8 or more up to 16 cores, filterbank best, des poor; where it is "
        "poor "
        "the main thread runs most of the time.");
    const std::vector<std::vector<Cell>> rows = table.rows;
    add_verdicts(table,
                 "filterbank is within 1 % of the best at 16, des below 0.8; of others nothing is said.",
                 [&rows](const std::vector<Cell>& row) {
                     constexpr double kNearly = 0.99, kPoor = 0.8;
                     const auto at_16 = [](const std::vector<Cell>& of) { return std::get<double>(of[5]); };
                     if (row[0] == Cell{"des"}) return yes_if(at_16(row) < kPoor);
                     if (row[0] != Cell{"filterbank"}) return Verdict::cannot_tell;
                     return yes_if(at_16(row) >= kNearly * at_16(*std::ranges::max_element(rows, {}, at_16)));
                 });
    return {table};
}

namespace {

double of_policy(const ResultTable& table, const std::string& policy, std::size_t column) {
    return std::get<double>((*std::ranges::find(
        table.rows, Cell{policy}, [](const std::vector<Cell>& row) { return row[0]; }))[column]);
}

void judge_memory(ResultTable& table) {
    const double oldest = of_policy(table, "oldest", 4);
    add_verdicts(
        table,
        "oldest is at most 8 % below the best; apriority and gpriority need at most half as much memory "
        "more than it, toplev, fifo and lifo need more than that; of others nothing is said.",
        [oldest](const std::vector<Cell>& row) {
            constexpr double kNear = 0.92, kFarMore = 1.5;
            const auto& policy = std::get<std::string>(row[0]);
            const bool needs_far_more = std::get<double>(row[4]) > kFarMore * oldest;
            if (policy == "oldest") return yes_if(std::get<double>(row[1]) >= kNear);
            if (policy == "apriority" || policy == "gpriority") return yes_if(!needs_far_more);
            if (policy == "toplev" || policy == "fifo" || policy == "lifo") return yes_if(needs_far_more);
            return Verdict::cannot_tell;
        });
}

void judge_bookkeeping(ResultTable& table) {
    const double oldest = of_policy(table, "oldest", 1);
    add_verdicts(
        table,
        "botlev, crit and mdesc are 7 to 10 % below oldest, by one more at most; of others nothing is said.",
        [oldest](const std::vector<Cell>& row) {
            const auto& policy = std::get<std::string>(row[0]);
            if (policy != "botlev" && policy != "crit" && policy != "mdesc") return Verdict::cannot_tell;
            const double below = 1 - std::get<double>(row[1]) / oldest;
            constexpr double kLeast = 0.06, kMost = 0.11;
            return yes_if(kLeast <= below && below <= kMost);
        });
}

// Where a policy's number is the best of its row, or nearly so.
void judge_best(ResultTable& table, const std::string& policy, bool most, const std::string& rule) {
    const auto column = static_cast<std::size_t>(
        std::ranges::find(table.columns, policy, &ResultTable::Column::name) - table.columns.begin());
    add_verdicts(table, rule, [=](const std::vector<Cell>& row) {
        constexpr double kNearly = 0.01;
        double best = std::get<double>(row[2]);
        for (std::size_t i = 3; i < row.size(); ++i)
            best = most ? std::max(best, std::get<double>(row[i])) : std::min(best, std::get<double>(row[i]));
        return agrees_within(kNearly, row[column], best);
    });
}

}  // namespace

std::vector<ResultTable> fig4_15(const ReproduceOptions& options) {
    PolicyStudy free = streamit_study(options, policies_but({}));
    ResultTable speed =
        summary_table("Figs. 4.15 and 4.16: the twelve StreamIt benchmarks on 4, 8 and 16 workers", free);
    speed.notes = {
        kHowProgramsRun, "Memory as a multiple of the sequential program's; window 8 iterations.",
        "Published: oldest up to 8 % below the best, only apriority and gpriority robust, with hardly "
        "more memory than oldest; toplev, fifo and lifo need far more."};
    ResultTable costs = summary_table("The same where tasks cost something", costly_study(options));
    costs.notes = {
        kCosts,
        "Published: botlev, crit and mdesc are 7 to 10 % below oldest on average by their bookkeeping."};
    judge_memory(speed);
    judge_bookkeeping(costs);
    return {speed, costs};
}

std::vector<ResultTable> fig4_17(const ReproduceOptions& options) {
    const std::vector<std::string> policies{"fifo", "oldest", "toplev", "wave", "apriority", "gpriority"};
    std::vector<ResultTable> tables =
        detail_tables("Fig. 4.17", study_policies(streamit_study(options, policies)), policies);
    tables[0].notes.emplace_back(kHowProgramsRun);
    tables[0].notes.emplace_back(
        "Published: apriority has the highest efficiency and the least memory, gpriority slightly less "
        "speed.");
    judge_best(tables[0], "apriority", true, "apriority is within 1 % of the fastest.");
    judge_best(tables[1], "apriority", false, "apriority needs within 1 % of the least memory.");
    return tables;
}

std::vector<ResultTable> table4_5(const ReproduceOptions&) {
    ResultTable table{"Table 4.5: the benchmarks, as simulated here",
                      {{"program"}, {"task types", 0}, {"tasks", 0}, {"work ms", 3}, {"published"}}};
    for (const std::string_view name : streamit_names()) {
        const StreamGraph graph = streamit_graph(name, 0.01);
        table.rows.push_back({std::string(name), double(graph.types.size()), double(graph.tasks()),
                              graph.work_us() / 1e3, "StreamIt 2.1.1"});
    }
    const auto add = [&](TaskProgram& program, const char* published) {
        double work_us = 0;
        ProgramTask task;
        for (std::uint64_t i = 0; i < program.tasks(); ++i) {
            program.next(task);
            work_us += task.work_us;
        }
        table.rows.push_back({program.name(), double(program.types().size()), double(program.tasks()),
                              work_us / 1e3, published});
    };
    add(*check_lu(), "SMPSs 2.1, 16x16 blocks of 32x32");
    add(*cholesky(), "16x16 blocks of 32x32");
    add(*h264(100), "100 frames of Pedestrian, 1080p");
    add_no_verdicts(table, "no work of theirs was published.");
    table.notes.emplace_back(
        "A stream's tasks and work are those of one iteration, at 10 ns for a unit of work. The decoder's "
        "times are "
        "our own choice, since the film is not part of the program.");
    return {table};
}

std::vector<ResultTable> fig4_18(const ReproduceOptions& options) {
    PolicyStudy study{.programs = {"check-lu", "cholesky", "h264"},
                      .policies = policies_but({"wave", "apriority"}),
                      .workers = {4, 8, 16},
                      .size = {.iterations = 25},
                      .window = {.iterations = 8},
                      .whole = true,
                      .progress = options.progress};
    std::vector<ResultTable> tables = detail_tables("Fig. 4.18", study_policies(study), study.policies);
    tables[0].notes = {
        "Simulated; tile times from counts of operations at 1 per ns, the decoder's are our own "
        "choice; whole runs, most of them over before the first look after 100 ms.",
        "Published for fifo, oldest, toplev and gpriority: gpriority has the best efficiency and "
        "memory use overall."};
    study.programs = {"check-lu", "cholesky"};
    study.window = {.tasks = 256};
    tables.push_back(
        detail_tables("Fig. 4.18 with 256 tasks in flight, as no policy then sees all that is to come",
                      study_policies(study), study.policies)
            .front());
    study.programs = {"check-lu"};
    study.workers = {16};
    study.window = {};
    for (const std::uint64_t blocks : {24, 32}) {
        study.size.blocks = blocks;
        tables.push_back(detail_tables(fmt::format("Check LU of {0}x{0} tiles, all in flight", blocks),
                                       study_policies(study), study.policies)
                             .front());
    }
    judge_best(tables[0], "gpriority", true, "gpriority is within 1 % of the fastest.");
    judge_best(tables[1], "gpriority", false, "gpriority needs within 1 % of the least memory.");
    for (ResultTable& table : std::span(tables).subspan(2))
        add_no_verdicts(table, "the figure has all tasks in flight, and 16 by 16 tiles.");
    tables.back().notes.emplace_back(
        "What is lost is lost at the end: a tile of the product is a chain of as many tasks as its row or "
        "column has before it, and the longest chains are created last. Only who sees the program to its end "
        "begins them earlier. In a larger matrix the end is a smaller part.");
    return tables;
}

}  // namespace tidemill::cli

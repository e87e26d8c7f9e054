#include <array>
#include <string>

#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/lab/sim/stream_program.hpp"
#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/scheduling/model/simulator.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

// The chapter on run-time decisions: when they pay, their makers, and what was there before.
namespace tidemill::cli {

namespace {

constexpr double kTaskUs = 1000;
constexpr double kTaskCostUs = 100;  // of a dynamic task
constexpr std::uint64_t kIterations = 200;

// Three kernels on three processors, each on its own, or as tasks for idle processors.
std::vector<Cell> static_beside_dynamic(const std::string& name, const std::array<double, 3>& shares,
                                        const std::string& published) {
    Chain chain{.kinds = {"big"}, .tasks = {}};
    StreamGraph graph;
    Schedule apart;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const std::string kernel(1, static_cast<char>('a' + i));
        chain.tasks.push_back({.name = kernel, .weight_us = {shares[i] * kTaskUs}});
        apart.stages.push_back({.first_task = i, .task_count = 1, .core_kind = "big"});
        graph.types.push_back({.name = kernel, .work_us = shares[i] * kTaskUs});
        if (i > 0) graph.edges.push_back({.from = i - 1, .to = i});
    }
    const double fixed_us = simulate(model_of(apart, chain), kIterations).period_us;
    const auto program = stream_program(graph, kIterations);
    const SimulatedTasks dynamic =
        simulate_tasks(*program, {.speeds = std::vector<double>(shares.size(), 1.0), .task_us = kTaskCostUs},
                       {.policy = "oldest", .window = {.iterations = 8}});
    const double dynamic_us = dynamic.makespan_us / static_cast<double>(kIterations);
    return {name, fixed_us, dynamic_us, fixed_us < dynamic_us ? "static" : "dynamic", published};
}

}  // namespace

std::vector<ResultTable> table4_1(const ReproduceOptions&) {
    struct Known {
        const char* name;
        int year;
        const char* online;
        const char* cores;
        const char* clairvoyant;
        const char* note;
        const char* ours;
    };
    constexpr Known kKnown[]{
        {"HLFNET", 1974, "no", "alike", "no", "as botlev", "botlev"},
        {"SCFNET", 1974, "yes", "alike", "no", "as toplev", "toplev"},
        {"DSH", 1988, "no", "alike", "yes", "O(n^4)", ""},
        {"ETF", 1989, "yes", "alike", "no", "what would begin first", ""},
        {"MCP", 1990, "no", "alike", "yes", "like botlev, with what follows", ""},
        {"MH", 1990, "no", "unlike", "yes", "O(n^2 p^3)", ""},
        {"GDL", 1993, "no", "unlike", "yes", "", ""},
        {"DSC", 1994, "no", "alike", "yes", "", ""},
        {"BIL", 1996, "no", "unlike", "yes", "", ""},
        {"HEFT", 1999, "no", "unlike", "yes", "", ""},
        {"MCT", 1999, "yes", "unlike", "yes", "", ""},
        {"MET", 1999, "yes", "unlike", "yes", "", ""},
        {"PCT", 1999, "yes", "unlike", "yes", "", ""},
        {"OLB", 1999, "yes", "unlike", "yes", "", ""},
        {"CPOP", 1999, "no", "unlike", "yes", "", ""},
        {"k-DLA", 2002, "no", "unlike", "yes", "", ""},
        {"HCPT", 2003, "no", "unlike", "yes", "", ""},
    };
    ResultTable table{
        "Table 4.1: heuristics for graphs of tasks that were known, and which of ours is one of them",
        {{"heuristic"}, {"year", 0}, {"online"}, {"cores"}, {"knows times"}, {"note"}, {"ours"}}};
    for (const Known& each : kKnown) {
        table.rows.push_back({each.name, static_cast<double>(each.year), each.online, each.cores,
                              each.clairvoyant, each.note, each.ours[0] == '\0' ? Cell{} : Cell{each.ours}});
    }
    table.notes.emplace_back(
        "The others need to know what tasks take, or the whole program ahead; nothing there to be measured.");
    add_no_verdicts(table, "a list of names has no result.");
    return {table};
}

std::vector<ResultTable> fig4_1(const ReproduceOptions&) {
    ResultTable table{"Fig. 4.1: three kernels on three processors, us an iteration, simulated",
                      {{"program"}, {"static", 0}, {"dynamic", 0}, {"shorter"}, {"publ."}}};
    table.rows.push_back(static_beside_dynamic("balanced", {1, 1, 1}, "static"));
    table.rows.push_back(static_beside_dynamic("unbalanced", {0.5, 1, 1.5}, "dynamic"));
    table.notes.emplace_back(
        "Published are traces without numbers: times are ours, 1 ms for a task on average and 0.1 ms that a "
        "dynamic "
        "one costs. Static: each kernel on its own processor.");
    add_verdicts(table, "the shorter one is the published one.",
                 [](const std::vector<Cell>& row) { return yes_if(row[3] == row[4]); });
    return {table};
}

std::vector<ResultTable> fig4_2(const ReproduceOptions&) {
    ResultTable table{"Fig. 4.2: calls of a dynamic scheduler", {{"published"}, {"ours"}, {"when"}}};
    table.rows.push_back({"create-task", "create", "the program creates a task, in its own order"});
    table.rows.push_back({"", "ready", "its last predecessor has completed"});
    table.rows.push_back({"issue-task", "issue", "a worker wants a task"});
    table.rows.push_back({"", "follow", "a worker goes on with one of several that it was given"});
    table.rows.push_back({"complete-task", "complete", "the task has ended"});
    table.rows.push_back({"", "tick", "time passes, for the adaptive policies"});
    table.notes.emplace_back(
        "Published, the scheduler holds the graph of tasks, and issue-task waits; ours is told what is "
        "ready, and who "
        "asks it waits by itself.");
    add_verdicts(table, "ours has the published call; of those that ours has besides nothing was published.",
                 [](const std::vector<Cell>& row) {
                     return row[0] == Cell{""} ? Verdict::cannot_tell : yes_if(row[1] != Cell{""});
                 });
    return {table};
}

std::vector<ResultTable> fig4_5(const ReproduceOptions&) {
    ResultTable table{"Fig. 4.5: the ready queue of a list of policies", {{"list"}, {"published"}, {"ours"}}};
    table.rows.push_back({"fifo", "circular buffer", "ring"});
    table.rows.push_back({"lifo", "stack", "ring"});
    table.rows.push_back({"toplev", "priority queue", "binary heap"});
    table.rows.push_back({"mchild", "priority queue + map", "binary heap with places"});
    table.rows.push_back({"fifo,oldest", "priority queue", "binary heap with places"});
    table.rows.push_back({"toplev,botlev", "priority queue + map", "binary heap with places"});
    table.notes.emplace_back(
        "Published: the most general queue that one of the list needs; the figure is a picture, its text "
        "says so. Our "
        "lists all have the most general one: a list is compiled once, whatever is in it.");
    add_no_verdicts(table, "which queue a list needs is a picture there, and a choice here.");
    return {table};
}

}  // namespace tidemill::cli

#include <array>

#include <fmt/format.h>

#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/scheduling/dynamic/crit.hpp"
#include "tidemill/scheduling/dynamic/gpriority.hpp"
#include "tidemill/scheduling/dynamic/mchild.hpp"
#include "tidemill/scheduling/dynamic/mdesc.hpp"

// The chapter on run-time decisions: what policies are made of.
namespace tidemill::cli {

std::vector<ResultTable> table4_2(const ReproduceOptions&) {
    ResultTable table{
        "Table 4.2: policies, what they issue first and what a task costs (W tasks in flight, R ready)",
        {{"policy"}, {"issues first"}, {"queue publ."}, {"queue"}, {"cost publ."}}};
    const auto published = [](const std::string& policy) -> std::pair<const char*, const char*> {
        if (policy == "fifo" || policy == "lifo") return {"circular buffer or stack", "O(1)"};
        if (policy == "mchild") return {"priority queue + map", "O(log R)"};
        if (policy == "botlev" || policy == "crit" || policy == "mdesc") {
            return {"priority queue + map", "up to O(W) updates per creation"};
        }
        if (policy == "gpriority") return {"priority queue", "O(log R), O(1) per edge"};
        return {"priority queue", "O(log R)"};
    };
    for (const policy::PolicyName& each : policy::policies()) {
        if (each.name == "priority") continue;
        const auto [queue, cost] = published(std::string(each.name));
        const std::string_view theirs = queue;
        const std::string ours = theirs.starts_with("circular") ? "ring"
                                 : theirs.ends_with("map")      ? "binary heap with places"
                                                                : "binary heap";
        table.rows.push_back({std::string(each.name), std::string(each.issues_first), queue, ours, cost});
    }
    table.notes.emplace_back("Nanoseconds per task: the benchmark policy_bench.");
    add_no_verdicts(table, "published are orders of growth; what a task takes is measured by policy_bench.");
    return {table};
}

namespace {

// Ranks of the tasks of Fig. 4.4 under a policy that issues the largest value first, or the least.
template <class Rule>
std::array<double, 5> values_under(policy::Rule::Rank sign) {
    using Slots = std::vector<policy::TaskSlot>;
    Rule rule;
    policy::TaskSlot next = 0;
    for (const Slots& before : {Slots{}, Slots{0}, Slots{0}, Slots{1}, Slots{3, 2}}) {
        rule.create({.slot = next, .type = next, .number = next, .predecessors = before});
        ++next;
    }
    std::array<double, 5> values{};
    for (policy::TaskSlot task = 0; task < values.size(); ++task) {
        values[task] = static_cast<double>(rule.rank(task) * sign);
    }
    return values;
}

}  // namespace

std::vector<ResultTable> fig4_4(const ReproduceOptions&) {
    constexpr const char* kMetrics[] = {"top level", "bottom level", "criticality", "children",
                                        "descendants"};
    constexpr double kPublished[4][5] = {{1, 2, 3, 1, 2}, {1, 1, 2, 1, 1}, {2, 1, 3, 1, 1}, {3, 0, 3, 0, 0}};
    const std::array<double, 5> ours[] = {values_under<policy::Toplev>(1), values_under<policy::Botlev>(-1),
                                          values_under<policy::Crit>(-1), values_under<policy::Mchild>(-1),
                                          values_under<policy::Mdesc>(-1)};
    ResultTable table{"Fig. 4.4: metrics of the tasks of A-B, A-C, B-D, D-E, C-E, ours and published",
                      {{"task"}}};
    for (const char* metric : kMetrics) {
        table.columns.push_back({metric, 0});
        table.columns.push_back({"publ.", 0, false, fmt::format("{} publ.", metric)});
    }
    table.columns.push_back({kReproduces});
    for (std::size_t task = 1; task < 5; ++task) {
        std::vector<Cell> row{std::string(1, static_cast<char>('A' + task))};
        bool agrees = true;
        for (std::size_t metric = 0; metric < 5; ++metric) {
            const double published = kPublished[task - 1][metric];
            row.insert(row.end(), {ours[metric][task], published});
            agrees = agrees && ours[metric][task] == published;
        }
        row.push_back(to_cell(yes_if(agrees)));
        table.rows.push_back(std::move(row));
    }
    table.notes.emplace_back("reproduces: all five are the published ones.");
    return {table};
}

std::vector<ResultTable> table4_4(const ReproduceOptions&) {
    constexpr unsigned kThreads = 5;
    policy::Gpriority fresh(kThreads, {});
    fresh.create({.slot = 0, .type = 0, .number = 0});
    const policy::TypeBusyness& type = fresh.busyness()[0];
    const policy::BusyThreads threads(kThreads);
    const char* not_started = threads.busy() == kThreads ? "not started, counts as busy" : "idle";
    ResultTable table{"Table 4.4: statistics of the adaptive policies",
                      {{"name"}, {"notation"}, {"published"}, {"ours", 0}, {"used for"}},
                      {{"state of a thread", "S_j", "not started", not_started, "busy threads, idle threads"},
                       {"adjustment of a task type", "a_k", "0", double(fresh.adjustment(0)),
                        "priority: a_k - task number"},
                       {"sum of busy threads", "t_k", "0", double(type.busy_threads), "average t_k / c_k"},
                       {"starved count", "s_k", "0", double(type.starved), "is the master too slow?"},
                       {"not starved count", "c_k", "0", double(type.not_starved), "average t_k / c_k"}},
                      {"Ours are read from a policy that has been told of one task."}};
    add_verdicts(table, "the value is the published one.", [](const std::vector<Cell>& row) {
        const auto* const number = std::get_if<double>(&row[3]);
        const std::string ours = number ? fmt::format("{}", *number) : std::get<std::string>(row[3]);
        return yes_if(ours.starts_with(std::get<std::string>(row[2])));
    });
    return {table};
}

}  // namespace tidemill::cli

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/lab/sim/profile_stream.hpp"
#include "tidemill/lab/sim/published.hpp"
#include "tidemill/lab/sim/stream_program.hpp"
#include "tidemill/scheduling/model/simulator.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

// Where the receiver's threads are put, and the decision's owner: measured points beside what the published
// times of the tasks let expect.
namespace tidemill::cli {

namespace {

constexpr std::array kPlatforms{"opi5", "m1u", "ai370", "x7ti"};

Cell if_known(const PublishedRow& row, std::string_view column) {
    return row.known(column) ? Cell{row.number(column)} : Cell{};
}

Platform all_or_half(const Profile& profile, const std::string& cores) {
    if (cores == "full") return profile.cores;
    return {.big = profile.cores.big / 2, .little = profile.cores.little / 2};
}

double scheduled_mbps(const Profile& profile, const Platform& cores, std::string_view name,
                      std::uint64_t frames) {
    const Schedule schedule = strategy(name).schedule(profile, cores);
    return mbps(profile, simulate(model_of(schedule, profile), frames).period_us);
}

// Tasks that any idle core takes, the oldest first; no task costs more than its time.
double dynamic_mbps(const Profile& profile, std::uint64_t frames) {
    const ProfileStream stream = profile_stream(profile, {"big", "little"});
    TaskMachine machine;
    TaskScheduling scheduling{.policy = "oldest", .window = {.iterations = 32}, .placing = Placing::known};
    stream.put_into({profile.cores.big, profile.cores.little}, machine, scheduling);
    const SimulatedTasks report = simulate_tasks(*stream_program(stream.graph, frames), machine, scheduling);
    return mbps(profile, report.makespan_us / static_cast<double>(frames));
}

ResultTable beside_schedulers(std::uint64_t frames) {
    ResultTable table{"What the published times let expect there, simulated, Mb/s",
                      {{"platform"}, {"dynamic, oldest"}, {"HeRAD"}}};
    for (const char* platform : kPlatforms) {
        const Profile profile = published_profile(platform);
        table.rows.push_back({platform, dynamic_mbps(profile, std::min<std::uint64_t>(frames, 400)),
                              scheduled_mbps(profile, profile.cores, "herad", frames)});
    }
    table.notes.emplace_back(
        "A thread per task under a system's scheduler is not modelled: what it loses by moving threads and "
        "waking "
        "them is what the figure measures. Dynamic: any idle core takes the oldest task that is ready, at no "
        "cost. Not in either: clocks that fall under load.");
    add_no_verdicts(table, "what the figure measures is not simulated.");
    return table;
}

}  // namespace

std::vector<ResultTable> fig12(const ReproduceOptions&) {
    ResultTable table{"Fig. 12: four threads on two clusters of two cores, by pinning policy",
                      {{"policy"}, {"thread 1"}, {"thread 2"}, {"thread 3"}, {"thread 4"}}};
    table.rows.push_back({"loose", "any", "any", "any", "any"});
    table.rows.push_back(
        {"guided", "any of its kind", "any of its kind", "any of its kind", "any of its kind"});
    table.rows.push_back({"packed", "0", "1", "2", "3"});
    table.rows.push_back({"distant", "0", "2", "1", "3"});
    table.notes.emplace_back(
        "Cores 0 and 1 are of the first cluster, 2 and 3 of the second. The figure is a picture, its text "
        "says how "
        "each policy goes about it; a schedule file names them as its field pinning-policy does.");
    add_no_verdicts(table, "the figure is a picture.");
    return {table};
}

std::vector<ResultTable> fig13(const ReproduceOptions& options) {
    ResultTable table{"Fig. 13: measured Mb/s by pinning policy (as published), and simulated",
                      {{"platform"},
                       {"cores"},
                       {"strategy"},
                       {"pinning"},
                       {"Mb/s"},
                       {"+-"},
                       {"simulated"},
                       {"measured/simulated", 3},
                       {"socket W"},
                       {"mJ/frame"}}};
    std::string last;
    double simulated = 0;
    for (const PublishedRow& row : published_table("pinning")) {
        const std::string now = row.text("platform") + row.text("cores") + row.text("strategy");
        if (now != last) {
            const Profile profile = published_profile(row.text("platform"));
            simulated = scheduled_mbps(profile, all_or_half(profile, row.text("cores")), row.text("strategy"),
                                       options.frames);
        }
        last = now;
        table.rows.push_back({row.text("platform"), row.text("cores"), row.text("strategy"),
                              row.text("pinning"), row.number("mbps"), row.number("mbps_deviation"),
                              simulated, row.number("mbps") / simulated, if_known(row, "socket_w"),
                              if_known(row, "mj_per_frame")});
    }
    table.notes.emplace_back(
        "Simulated from the published times of the tasks, each thread on a core of its kind: pinning is not "
        "in it.");
    add_no_verdicts(table, "what pinning changes is measured there, and not in our simulation.");
    return {table};
}

std::vector<ResultTable> fig14(const ReproduceOptions& options) {
    ResultTable table{"Fig. 14: a thread per task left to schedulers of Linux (as published)",
                      {{"platform"},
                       {"scheduler"},
                       {"threads per replicable task", 0},
                       {"Mb/s"},
                       {"socket W"},
                       {"mJ/frame"}}};
    for (const PublishedRow& row : published_table("os_schedulers")) {
        table.rows.push_back({row.text("platform"), row.text("scheduler"), row.number("replication"),
                              row.number("mbps"), row.number("socket_w"), row.number("mj_per_frame")});
    }
    for (const PublishedRow& row : published_table("thread_per_task")) {
        if (row.text("platform") == "x7ti") continue;
        table.rows.push_back({row.text("platform"), "the system's", row.number("replication"),
                              row.number("mbps"), row.number("socket_w"), row.number("mj_per_frame")});
    }
    table.notes.emplace_back(
        "The figure has X7 Ti alone. Of the other platforms the data set has only what Fig. 11 shows, under "
        "the "
        "system's own scheduler; its other 24 rows are zeros.");
    for (const PublishedRow& row : published_table("table3")) {
        if (row.text("solution") != "S38") continue;
        table.notes.push_back(fmt::format("On X7 Ti, scheduled by FERTAC: {} Mb/s, {} W, {} mJ/frame.",
                                          row.text("measured_mbps"), row.text("socket_w"),
                                          row.text("mj_per_frame")));
    }
    add_no_verdicts(table, "no machine of those is at hand, and a system's scheduler is not simulated.");
    return {table, beside_schedulers(options.frames)};
}

namespace {

// Result of one strategy for a platform and its cores, against HeRAD's there.
struct AgainstHerad {
    double below_best = 0;  // of the throughput that HeRAD's period lets expect
    double simulated_below = 0;
    double more_energy = 0;  // per frame
};

AgainstHerad against_herad(const PublishedRow& row, const std::vector<PublishedRow>& all) {
    const auto herad = std::ranges::find_if(all, [&](const PublishedRow& each) {
        return each.text("strategy") == "herad" && each.text("platform") == row.text("platform") &&
               each.text("big") == row.text("big") && each.text("little") == row.text("little");
    });
    const double best = herad->number("simulated_mbps");
    return {1 - row.number("measured_mbps") / best, 1 - row.number("simulated_mbps") / best,
            row.number("mj_per_frame") / herad->number("mj_per_frame") - 1};
}

Cell mean_percent(double sum, std::size_t count) {
    return 100 * sum / static_cast<double>(count);
}

}  // namespace

std::vector<ResultTable> fig15(const ReproduceOptions&) {
    ResultTable table{
        "Fig. 15: the strategies in short, on average over four platforms with half and all cores, %",
        {{"strategy"},
         {"period over the optimum, simulated", 1},
         {"measured below the optimum", 1},
         {"publ.", 0, false, "measured below the optimum publ."},
         {"mJ/frame over HeRAD's", 1},
         {"publ.", 0, false, "mJ/frame over HeRAD's publ."}}};
    struct Summary {
        const char* strategy;
        Cell below;
        Cell energy;
    };
    const std::vector<PublishedRow> all = published_table("table3");
    for (const auto& [name, below, energy] :
         {Summary{"herad", 7.0, 0.0}, Summary{"2catac", 12.0, 4.0}, Summary{"fertac", 19.0, 7.0},
          Summary{"otac-big", {}, {}}, Summary{"otac-little", {}, {}}}) {
        AgainstHerad sum;
        std::size_t count = 0;
        for (const PublishedRow& row : all) {
            if (row.text("strategy") != name) continue;
            const AgainstHerad each = against_herad(row, all);
            sum.below_best += each.below_best;
            sum.simulated_below += each.simulated_below;
            sum.more_energy += each.more_energy;
            ++count;
        }
        table.rows.push_back({name, mean_percent(sum.simulated_below, count),
                              mean_percent(sum.below_best, count), below,
                              mean_percent(sum.more_energy, count), energy});
    }
    table.notes.emplace_back(
        "From the published points of Table 3. How the published means were taken is not said. The figure's "
        "other "
        "rows (complexity, ease of use) are words.");
    add_verdicts(table,
                 "both means round to the published per cent, or differ by one; of OTAC none is published.",
                 [](const std::vector<Cell>& row) {
                     const auto* const below = std::get_if<double>(&row[3]);
                     const auto* const energy = std::get_if<double>(&row[5]);
                     if (below == nullptr || energy == nullptr) return Verdict::cannot_tell;
                     constexpr double kRounding = 1.5;
                     return yes_if(std::abs(std::get<double>(row[2]) - *below) <= kRounding &&
                                   std::abs(std::get<double>(row[4]) - *energy) <= kRounding);
                 });
    return {table};
}

}  // namespace tidemill::cli

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/lab/sim/published.hpp"
#include "tidemill/scheduling/model/simulator.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

namespace tidemill::cli {

namespace {

Platform cores_of(const PublishedRow& row) {
    return {.big = row.count("big"), .little = row.count("little")};
}

std::string cores_text(const PublishedRow& row) {
    return fmt::format("({},{})", row.count("big"), row.count("little"));
}

// The way stages are published: tasks, kind and cores of each.
std::string stages_text(const Schedule& schedule) {
    std::string text;
    for (const Stage& stage : schedule.stages) {
        text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", stage.task_count,
                            stage.core_kind == "big" ? 'B' : 'L', stage.threads);
    }
    return text;
}

double simulated_mbps(const Schedule& schedule, const Profile& profile, std::uint64_t frames,
                      const MachineModel& machine = {}) {
    return mbps(profile, simulate(model_of(schedule, profile, machine), frames).period_us);
}

// Where the throughput is the published one to its last digit.
bool equal_mbps(double ours, double published) {
    return std::abs(ours - published) < 0.00501;
}

ResultTable optima(std::uint64_t frames) {
    ResultTable table{"The optimum with all cores, Mb/s",
                      {{"platform"}, {"cores"}, {"ours"}, {"published"}, {"simulated"}, {kReproduces}}};
    for (const PublishedRow& row : published_table("table3")) {
        const Profile profile = published_profile(row.text("platform"));
        if (row.text("strategy") != "herad" || cores_of(row) != profile.cores) continue;
        const Schedule best = strategy("herad").schedule(profile, profile.cores);
        const double ours = mbps(profile, period_us(best, profile));
        const double theirs = row.number("simulated_mbps");
        table.rows.push_back({row.text("platform"), cores_text(row), ours, theirs,
                              simulated_mbps(best, profile, frames),
                              to_cell(yes_if(equal_mbps(ours, theirs)))});
    }
    table.notes.emplace_back("reproduces: our throughput is the published one to its last digit.");
    return table;
}

}  // namespace

std::vector<ResultTable> table3(const ReproduceOptions& options) {
    ResultTable table{"Table 3: the DVB-S2 receiver, published solutions computed again and ours beside them",
                      {{"solution"},
                       {"platform"},
                       {"cores"},
                       {"strategy"},
                       {"stages publ."},
                       {"period publ. us"},
                       {"by formula us"},
                       {"Mb/s publ."},
                       {"simulated Mb/s"},
                       {"our stages"},
                       {"our Mb/s"},
                       {kReproduces}}};
    std::size_t equal = 0;
    for (const PublishedRow& row : published_table("table3")) {
        const Profile profile = published_profile(row.text("platform"));
        const Schedule theirs = published_schedule(row.text("stages"));
        const Schedule ours = strategy(row.text("strategy")).schedule(profile, cores_of(row));
        const double published = row.number("simulated_mbps");
        const double simulated = simulated_mbps(theirs, profile, options.frames);
        const double our_mbps = mbps(profile, period_us(ours, profile));
        const bool same = equal_mbps(simulated, published) && equal_mbps(our_mbps, published);
        equal += same ? 1 : 0;
        table.rows.push_back({row.text("solution"), row.text("platform"), cores_text(row),
                              row.text("strategy"), row.text("stages"), row.number("period_us"),
                              period_us(theirs, profile), published, simulated, stages_text(ours), our_mbps,
                              to_cell(yes_if(same))});
    }
    table.notes.push_back(fmt::format(
        "{} of {} have the published throughput, simulated and by our strategy.", equal, table.rows.size()));
    table.notes.emplace_back("reproduces: both are the published one to its last digit.");
    return {table, optima(options.frames)};
}

namespace {

ResultTable scheduled_bars(std::uint64_t frames) {
    ResultTable table{"Fig. 11: scheduled pipelines, packed on their cores",
                      {{"platform"},
                       {"cores"},
                       {"strategy"},
                       {"simulated Mb/s"},
                       {"simulated publ."},
                       {"measured publ."},
                       {"measured/simulated", 3},
                       {"latency ms", 1},
                       {"socket W publ."},
                       {"mJ/frame publ."}}};
    for (const PublishedRow& row : published_table("table3")) {
        const Profile profile = published_profile(row.text("platform"));
        const SimReport report = simulate(model_of(published_schedule(row.text("stages")), profile), frames);
        const double simulated = mbps(profile, report.period_us);
        const double real = row.number("measured_mbps");
        table.rows.push_back({row.text("platform"), cores_text(row), row.text("strategy"), simulated,
                              row.number("simulated_mbps"), real, real / simulated,
                              report.latency.median_us / 1000, row.number("socket_w"),
                              row.number("mj_per_frame")});
    }
    table.notes.emplace_back("Not modelled: clocks that fall under load, caches, the system's own threads.");
    add_verdicts(table, "simulated is what was published as simulated, to its last digit.",
                 [](const std::vector<Cell>& row) {
                     return yes_if(equal_mbps(std::get<double>(row[3]), std::get<double>(row[4])));
                 });
    return table;
}

// Clocks of a platform under load, as a share of those at which tasks were profiled (section 8.4 of the
// paper).
struct ObservedClocks {
    const char* platform;
    const char* solution;
    const char* text;
    double big_least, big_most;
    double little_least, little_most;
};
constexpr ObservedClocks kSeenClocks[] = {
    {"ai370", "S30", "big as profiled, little 51 to 100 %", 1, 1, 1680.0 / 3300, 1},
    {"x7ti", "S40", "big 77 to 96 %, little 87 %", 0.77, 0.96, 0.87, 0.87},
};

ResultTable falling_clocks(std::uint64_t frames) {
    ResultTable table{
        "The same at the clocks that were seen under load (HeRAD, all cores)",
        {{"platform"}, {"clocks seen"}, {"at least Mb/s"}, {"at most Mb/s"}, {"measured publ."}}};
    const std::vector<PublishedRow> solutions = published_table("table3");
    for (const ObservedClocks& seen : kSeenClocks) {
        const auto row = std::ranges::find_if(
            solutions, [&](const PublishedRow& each) { return each.text("solution") == seen.solution; });
        const Profile profile = published_profile(seen.platform);
        const Schedule schedule = published_schedule(row->text("stages"));
        const auto at = [&](double big, double little) {
            const MachineModel machine{.model = {.kinds = {{.kind = "big", .slowdown = {1 / big}},
                                                           {.kind = "little", .slowdown = {1 / little}}}}};
            return simulated_mbps(schedule, profile, frames, machine);
        };
        table.rows.push_back({seen.platform, seen.text, at(seen.big_least, seen.little_least),
                              at(seen.big_most, seen.little_most), row->number("measured_mbps")});
    }
    add_verdicts(
        table, "the measured throughput is between those at the clocks that were seen.",
        [](const std::vector<Cell>& row) {
            const double measured = std::get<double>(row[4]);
            return yes_if(std::get<double>(row[2]) <= measured && measured <= std::get<double>(row[3]));
        });
    return table;
}

ResultTable thread_per_task_bars() {
    ResultTable table{
        "Fig. 11: a thread per task, left to the operating system (as published)",
        {{"platform"}, {"threads per replicable task", 0}, {"Mb/s"}, {"+-"}, {"socket W"}, {"mJ/frame"}}};
    for (const PublishedRow& row : published_table("thread_per_task")) {
        table.rows.push_back({row.text("platform"), row.number("replication"), row.number("mbps"),
                              row.number("mbps_deviation"), row.number("socket_w"),
                              row.number("mj_per_frame")});
    }
    add_no_verdicts(table, "no machine of those is at hand, and a system's scheduler is not simulated.");
    return table;
}

}  // namespace

std::vector<ResultTable> fig11(const ReproduceOptions& options) {
    return {scheduled_bars(options.frames), falling_clocks(options.frames), thread_per_task_bars()};
}

}  // namespace tidemill::cli

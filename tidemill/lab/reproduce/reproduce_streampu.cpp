#include <algorithm>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/lab/sim/published.hpp"
#include "tidemill/scheduling/model/simulator.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

// The article on the language StreamPU: its DVB-S2 receiver on two Xeon Platinum 8168, by simulation from the
// times of its tasks.
namespace tidemill::cli {

namespace {

constexpr int kFramesAtOnce = 16;
constexpr double kOnePercent = 0.01;
constexpr const char* kWithinOnePercent = "ours is within 1 % of the published throughput.";
constexpr int kReplicas = 28;  // of stage 7

Profile streampu_profile() {
    Profile profile;
    profile.kinds = {"big"};
    profile.frames_per_execution = kFramesAtOnce;
    profile.cores = Platform{.big = 2 * 24};
    for (const PublishedRow& row : published_table("streampu_tasks")) {
        profile.tasks.push_back({.name = row.text("task"),
                                 .replicable = row.count("replicable") == 1,
                                 .weight_us = {row.number("latency_us")}});
    }
    return profile;
}

// The eight stages as published, stage 7 with so many threads.
Schedule streampu_stages(int replicas) {
    Schedule schedule;
    std::size_t task = 0;
    for (const PublishedRow& row : published_table("streampu_tasks")) {
        const auto stage = static_cast<std::size_t>(row.count("stage"));
        if (schedule.stages.size() < stage) {
            schedule.stages.push_back({.first_task = task,
                                       .task_count = 0,
                                       .threads = row.count("replicable") == 1 ? replicas : 1,
                                       .core_kind = "big"});
        }
        ++schedule.stages.back().task_count;
        ++task;
    }
    return schedule;
}

double stage_us(const Stage& stage, const Profile& profile) {
    double sum = 0;
    for (std::size_t i = 0; i < stage.task_count; ++i) {
        sum += profile.tasks[stage.first_task + i].weight_us[0];
    }
    return sum;
}

}  // namespace

std::vector<ResultTable> streampu_table3(const ReproduceOptions&) {
    const Profile profile = streampu_profile();
    ResultTable tasks{"StreamPU, Table 3: the receiver's tasks in order, 16 frames at once",
                      {{"stage", 0}, {"task"}, {"latency us"}, {"Mb/s"}, {"Mb/s publ."}, {"% publ."}}};
    for (const PublishedRow& row : published_table("streampu_tasks")) {
        const double us = row.number("latency_us");
        tasks.rows.push_back({row.number("stage"), row.text("task"), us, mbps(profile, us),
                              row.number("mbps"), row.number("share")});
    }
    add_verdicts(tasks, kWithinOnePercent,
                 [](const auto& row) { return agrees_within(kOnePercent, row[3], row[4]); });
    ResultTable stages{"and its stages, summed up",
                       {{"stage", 0}, {"us"}, {"us publ."}, {"Mb/s"}, {"Mb/s publ."}}};
    const Schedule schedule = streampu_stages(1);
    double total = 0;
    const auto published = published_table("streampu_stages");
    for (std::size_t i = 0; i < schedule.stages.size(); ++i) {
        const double us = stage_us(schedule.stages[i], profile);
        total += us;
        stages.rows.push_back({published[i].number("stage"), us, published[i].number("latency_us"),
                               mbps(profile, us), published[i].number("mbps")});
    }
    stages.notes.push_back(fmt::format("In all {:.2f} us, {:.2f} Mb/s; published: 55742.37 us, 4.09 Mb/s.",
                                       total, mbps(profile, total)));
    stages.notes.emplace_back(
        "Our receiver has other tasks, and no processor of that kind is at hand, so none of ours stands "
        "beside.");
    stages.notes.emplace_back(
        "Which tasks may be replicated is a colour there; here those of stage 7, which is.");
    add_verdicts(stages, kWithinOnePercent,
                 [](const auto& row) { return agrees_within(kOnePercent, row[3], row[4]); });
    return {tasks, stages};
}

std::vector<ResultTable> streampu_table4(const ReproduceOptions& options) {
    const Profile profile = streampu_profile();
    const Schedule one{.stages = {{.first_task = 0, .task_count = profile.tasks.size(), .core_kind = "big"}}};
    const auto simulated = [&](const Schedule& schedule) {
        return mbps(profile, simulate(model_of(schedule, profile), options.frames).period_us);
    };
    ResultTable table{"StreamPU, Table 4: throughputs by configuration, Mb/s",
                      {{"MODCOD", 0},
                       {"target"},
                       {"in order publ.", 1},
                       {"simulated", 2, false, "in order"},
                       {"parallel publ.", 0},
                       {"simulated", 2, false, "parallel"},
                       {"HeRAD, 35 cores"},
                       {"latency ms publ.", 0}}};
    const Schedule ours = strategy("herad").schedule(profile, {.big = 7 + kReplicas});
    for (const PublishedRow& row : published_table("streampu_modcods")) {
        const bool profiled = row.text("modcod") == "2" && row.text("target") == "x86";
        const auto only = [&](const Schedule& schedule) {
            return profiled ? Cell{simulated(schedule)} : Cell{};
        };
        table.rows.push_back({row.number("modcod"), row.text("target"), row.number("sequential_mbps"),
                              only(one), row.number("parallel_mbps"), only(streampu_stages(kReplicas)),
                              only(ours), row.known("latency_ms") ? Cell{row.number("latency_ms")} : Cell{}});
    }
    table.notes.emplace_back(
        "Only MODCOD 2 on x86 has published times of its tasks; the others cannot be simulated.");
    add_verdicts(table, "both simulated throughputs are within 1 % of the measured ones.",
                 [](const std::vector<Cell>& row) {
                     const Verdict in_order = agrees_within(kOnePercent, row[3], row[2]);
                     return in_order == Verdict::yes ? agrees_within(kOnePercent, row[5], row[4]) : in_order;
                 });
    return {table};
}

std::vector<ResultTable> streampu_table5(const ReproduceOptions&) {
    const Profile profile = streampu_profile();
    ResultTable table{
        "StreamPU, Table 5: the tasks cut as gr-dvbs2rx is, Mb/s per stage",
        {{"GNU Radio block"}, {"tasks"}, {"gr-dvbs2rx publ.", 1}, {"from Table 3", 1}, {"publ.", 1}}};
    for (const PublishedRow& row : published_table("streampu_gnuradio")) {
        std::istringstream numbers(row.text("tasks"));
        double us = 0;
        for (std::size_t task; numbers >> task;) us += profile.tasks.at(task - 1).weight_us[0];
        table.rows.push_back({row.text("block"), row.text("tasks"), row.number("gnuradio_mbps"),
                              mbps(profile, us), row.number("mbps")});
    }
    table.notes.emplace_back("Stage 9 of gr-dvbs2rx, bbdeheader_bb at 252.5 Mb/s, has no task there.");
    add_verdicts(table, kWithinOnePercent,
                 [](const auto& row) { return agrees_within(kOnePercent, row[3], row[4]); });
    return {table};
}

std::vector<ResultTable> streampu_fig11(const ReproduceOptions& options) {
    const Profile profile = streampu_profile();
    const Schedule schedule = streampu_stages(kReplicas);
    const SimReport report = simulate(model_of(schedule, profile), options.frames);
    ResultTable table{"StreamPU, Fig. 11b: where the time of the pipeline's stages goes, simulated",
                      {{"stage", 0}, {"threads", 0}, {"in tasks %", 1}, {"waiting %", 1}}};
    for (std::size_t i = 0; i < report.stages.size(); ++i) {
        const double share = 100 * report.stages[i].occupancy;
        table.rows.push_back(
            {static_cast<double>(i + 1), static_cast<double>(report.stages[i].threads), share, 100 - share});
    }
    table.notes.push_back(
        fmt::format("{:.1f} Mb/s; published: 55, all of stage 3's time in its task. The figure's other bars "
                    "are a picture.",
                    mbps(profile, report.period_us)));
    table.notes.emplace_back(
        "Fig. 11a copies data between stages and gets 40 Mb/s, 27 % less; what copies cost is not "
        "simulated.");
    add_verdicts(table, "stage 3 works all the time; of the others nothing was published as a number.",
                 [](const std::vector<Cell>& row) {
                     if (row[0] != Cell{3.0}) return Verdict::cannot_tell;
                     return yes_if(std::get<double>(row[2]) > 100 * (1 - kOnePercent));
                 });
    return {table};
}

}  // namespace tidemill::cli

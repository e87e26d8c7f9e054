#include "tidemill/steer/report.hpp"

#include <fmt/format.h>

namespace tidemill::steer {

namespace {

Json json_of(const std::vector<bridge::Factor>& factors) {
    Json json = Json::array();
    for (const bridge::Factor& factor : factors)
        json.push_back({{"value", factor.value}, {"quality", bridge::to_string(factor.quality)}});
    return json;
}

Json json_of(const ThreadReport& thread) {
    return {{"process", thread.process},
            {"thread", thread.thread},
            {"program", thread.program},
            {"standing", to_string(thread.standing)},
            {"kind", thread.kind},
            {"demand", thread.demand},
            {"weight", thread.weight},
            {"factors", json_of(thread.factors)},
            {"over_alone", thread.over_alone}};
}

Json json_of(const Counts& counts) {
    return {{"moves", counts.moves},
            {"exchanges", counts.exchanges},
            {"released", counts.released},
            {"undone", counts.undone},
            {"refused", counts.refused}};
}

std::string standings_of(const Report& report) {
    std::string text;
    for (std::size_t i = 0; i < report.by_standing.size(); ++i)
        if (report.by_standing[i] != 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", report.by_standing[i],
                                to_string(static_cast<Standing>(i)));
    return text;
}

std::string factors_of(const ThreadReport& thread) {
    std::string text;
    for (std::size_t kind = 1; kind < thread.factors.size(); ++kind)
        text += thread.factors[kind].quality == bridge::Quality::absent
                    ? fmt::format("{:>8}", "-")
                    : fmt::format("{:>8.2f}", thread.factors[kind].value);
    return text;
}

constexpr const char* kCounterLine = "# TYPE tidemill_bridge_{0} counter\ntidemill_bridge_{0} {1}\n";
constexpr const char* kGaugeLine = "# TYPE tidemill_bridge_{0} gauge\ntidemill_bridge_{0} {1}\n";

}  // namespace

Json to_json(const Report& report) {
    Json json{{"dry_run", report.dry_run},
              {"up_s", report.up_s},
              {"processor_s", report.processor_s},
              {"processes", report.processes},
              {"threads", report.threads},
              {"counts", json_of(report.counts)},
              {"mean_over_alone", report.mean_over_alone},
              {"worst_over_alone", report.worst_over_alone},
              {"shortage", report.shortage},
              {"kinds", Json::array()},
              {"active", Json::array()},
              {"recent", report.recent}};
    for (std::size_t i = 0; i < report.by_standing.size(); ++i)
        json["by_standing"][to_string(static_cast<Standing>(i))] = report.by_standing[i];
    for (const KindReport& kind : report.kinds)
        json["kinds"].push_back({{"name", kind.name}, {"cores", kind.cores}, {"confined", kind.confined}});
    for (const ThreadReport& thread : report.active) json["active"].push_back(json_of(thread));
    return json;
}

std::string describe(const Report& report) {
    std::string text = fmt::format("{} for {:.1f} s, {:.3f} % of a core itself\n",
                                   report.dry_run ? "steering, as a dry run," : "steering", report.up_s,
                                   report.up_s > 0 ? 100 * report.processor_s / report.up_s : 0);
    text += fmt::format("watched    {} threads of {} processes: {}\n", report.threads, report.processes,
                        standings_of(report));
    for (const KindReport& kind : report.kinds)
        text += fmt::format("{:<10} {} cores, {} threads confined to them\n", kind.name, kind.cores,
                            kind.confined);
    const Counts& counts = report.counts;
    text += fmt::format("changes    {} moves, {} exchanges, {} undone; {} threads released, {} refused\n",
                        counts.moves, counts.exchanges, counts.undone, counts.released, counts.refused);
    text += fmt::format(
        "speed      {:.2f} times that without steering in the geometric mean, {:.2f} for the slowest thread, "
        "by "
        "what is known\n",
        report.mean_over_alone, report.worst_over_alone);
    if (!report.shortage.empty()) text += report.shortage + "\n";
    if (!report.active.empty())
        text += fmt::format("{:>8}  {:<32}{:<10}{:<10}{:>8}  factors\n", "thread", "program", "standing",
                            "kind", "demand");
    for (const ThreadReport& thread : report.active)
        text += fmt::format("{:>8}  {:<32}{:<10}{:<10}{:>8.2f}{}\n", thread.thread, thread.program,
                            to_string(thread.standing), thread.kind, thread.demand, factors_of(thread));
    for (const std::string& change : report.recent) text += change + "\n";
    return text;
}

std::string to_metrics(const Report& report) {
    std::string text;
    text += fmt::format(kCounterLine, "moves_total", report.counts.moves);
    text += fmt::format(kCounterLine, "exchanges_total", report.counts.exchanges);
    text += fmt::format(kCounterLine, "released_total", report.counts.released);
    text += fmt::format(kCounterLine, "undone_total", report.counts.undone);
    text += fmt::format(kCounterLine, "refused_total", report.counts.refused);
    text += fmt::format(kCounterLine, "processor_seconds_total", report.processor_s);
    text += fmt::format(kGaugeLine, "processes", report.processes);
    text += fmt::format(kGaugeLine, "mean_over_alone", report.mean_over_alone);
    text += fmt::format(kGaugeLine, "worst_over_alone", report.worst_over_alone);
    text += "# TYPE tidemill_bridge_threads gauge\n";
    for (std::size_t i = 0; i < report.by_standing.size(); ++i)
        text += fmt::format("tidemill_bridge_threads{{standing=\"{}\"}} {}\n",
                            to_string(static_cast<Standing>(i)), report.by_standing[i]);
    text += "# TYPE tidemill_bridge_confined gauge\n";
    for (const KindReport& kind : report.kinds)
        text += fmt::format("tidemill_bridge_confined{{kind=\"{}\"}} {}\n", kind.name, kind.confined);
    return text;
}

}  // namespace tidemill::steer

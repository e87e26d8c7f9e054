#include "tidemill/apps/reception/carriers_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/apps/reception/rx_report.hpp"
#include "tidemill/base/plain_text.hpp"

namespace tidemill::cli {

namespace {

std::string sum_line(const CarriersOutcome& all) {
    const RxOutcome& together = all.together;
    const dvbs2::FrameTotals& totals = together.report.totals;
    return fmt::format(
        "together   {} carriers, {} frames, {} bad, {} packets, received in {:.2f} s, executor {}\n",
        all.carriers.size(), totals.frames, totals.frames_bad, together.ts.packets, together.run.elapsed_s,
        to_string(together.executor));
}

std::vector<std::string> warnings_of_band(const CarriersOutcome& all) {
    std::vector<std::string> warnings = all.together.job.warnings;
    for (const CarrierOutcome& one : all.carriers)
        if (!one.outcome.received())
            warnings.push_back(fmt::format("carrier {}: {}", one.number, failure_text(one.outcome)));
    return warnings;
}

}  // namespace

std::string outcome_text(const CarriersOutcome& all, bool stats) {
    std::string text;
    for (const CarrierOutcome& one : all.carriers) {
        const RxOutcome& own = one.outcome;
        text += stats ? fmt::format("carrier    {}\n{}\n", one.number, account_text(own))
                      : fmt::format("carrier {}   {}", one.number, summary_text(own));
    }
    if (stats) text += sum_line(all);
    for (const std::string& warning : warnings_of_band(all)) text += "warning: " + plain_line(warning) + "\n";
    return stats ? text + run_text(all.together, true) : text;
}

std::string report_json(const CarriersOutcome& all) {
    Json carriers = Json::array();
    for (const CarrierOutcome& one : all.carriers) {
        Json json = account_json(one.outcome);
        json["carrier"] = one.number;
        carriers.push_back(json);
    }
    const dvbs2::FrameTotals& totals = all.together.report.totals;
    Json json{{"recording", all.together.job.recording.data_path.string()},
              {"carriers", carriers},
              {"together",
               {{"frames", totals.frames},
                {"frames_bad", totals.frames_bad},
                {"ts_packets", all.together.ts.packets},
                {"samples", all.together.report.samples},
                {"samples_missing", all.together.missing_samples},
                {"elapsed_s", all.together.run.elapsed_s},
                {"interrupted", all.together.interrupted},
                {"executor", to_string(all.together.executor)},
                {"predicted_mbps", Json(all.together.predicted_mbps)}}},
              {"warnings", warnings_of_band(all)}};
    add_run(all.together, json);
    return to_text(json, 2);
}

std::string failure_text(const CarriersOutcome& all) {
    std::vector<std::string> reasons;
    for (const CarrierOutcome& one : all.carriers)
        reasons.push_back(fmt::format("carrier {}: {}", one.number, failure_text(one.outcome)));
    if (reasons.empty()) return "interrupted before the carriers were found";
    return fmt::format("{}", fmt::join(reasons, "\n"));
}

}  // namespace tidemill::cli

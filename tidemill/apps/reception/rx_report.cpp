#include "tidemill/apps/reception/rx_report.hpp"

#include <ranges>

#include <fmt/format.h>

#include "tidemill/apps/reception/rx_fields.hpp"
#include "tidemill/apps/reception/rx_line.hpp"
#include "tidemill/apps/reception/sample_remarks.hpp"
#include "tidemill/apps/running/watched_run.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/base/plain_text.hpp"
#include "tidemill/base/plural.hpp"
#include "tidemill/io/files/hertz_text.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/scheduling/model/schedule_json.hpp"
#include "tidemill/tuning/choose/forecast.hpp"

namespace tidemill::cli {

namespace {

// As a line of people's reports: what the forecast says of the device, and what it did.
std::string device_text(const RxOutcome& outcome) {
    if (!outcome.ldpc_device) return "";
    std::string text;
    if (outcome.device_decision) text = fmt::format("device     {}\n", outcome.device_decision->why);
    if (outcome.device.batches > 0)
        text += fmt::format("device     {} frames in {} batches on {}, {} of them finished on the host\n",
                            outcome.device.frames, outcome.device.batches, outcome.ldpc_device->id,
                            outcome.device.frames_finished);
    return text;
}

Json used_schedule_json(const RxOutcome& outcome) {
    if (!outcome.schedule) return {};
    return outcome.profile ? schedule_json(*outcome.schedule, outcome.profile->profile, outcome.model)
                           : schedule_json(*outcome.schedule);
}

// The whole of the reception.
RxView view_of(const RxOutcome& outcome) {
    const dvbs2::FrameTotals& totals = outcome.report.totals;
    return {.now = outcome.report,
            .ts = outcome.ts,
            .ring = seen_by(outcome.job.stream.get(), totals.missing),
            .pls = totals.usual_pls(),
            .esn0_db = totals.esn0_db(),
            .info_mbps = totals.info_mbps(),
            .frames = totals.frames,
            .frames_bad = totals.frames_bad,
            .ldpc_iterations = totals.ldpc_iterations,
            .corrected_bits = totals.corrected_bits,
            .whole = &outcome};
}

// Why frames without errors were not used.
std::vector<std::string> fault_warnings(const RxOutcome& outcome) {
    std::vector<std::string> warnings;
    for (std::size_t fault = 1; fault < outcome.report.frames_by_fault.size(); ++fault) {
        const auto kind = static_cast<dvbs2::BbFault>(fault);
        const std::uint64_t frames = outcome.report.frames_by_fault[fault];
        if (frames == 0 || kind == dvbs2::BbFault::other_input_stream) continue;
        warnings.push_back(fmt::format("{} frame{} not used: {}", frames, plural(frames), describe(kind)));
    }
    if (const std::uint64_t frames = outcome.report.packets.frames_completed; frames > 0)
        warnings.push_back(
            fmt::format("{} frames leave the sync byte or the length of their packets 0: read as those of a "
                        "transport stream",
                        frames));
    return warnings;
}

std::string refused_tokens(const RxOutcome& outcome) {
    return outcome.ldpc_device ? outcome.ldpc_device->refused_tokens() : "";
}

std::string device_failure_text(const dvbs2::LdpcDeviceUse& use) {
    // A device that failed while it was weighed had no frame.
    const bool had_frames = use.frames + use.frames_on_host > 0;
    return fmt::format("the device failed, and {} frames were decoded on the host: {}",
                       had_frames ? fmt::format("{}", use.frames_on_host) : "all", use.failure);
}

std::vector<std::string> all_warnings(const RxOutcome& outcome) {
    std::vector<std::string> warnings = outcome.job.warnings;
    for (std::string& warning : fault_warnings(outcome)) warnings.push_back(std::move(warning));
    for (std::string& remark : sample_remarks(outcome)) warnings.push_back(std::move(remark));
    for (const std::string& of_input : {outcome.remarks, outcome.trouble})
        if (!of_input.empty()) warnings.push_back(of_input);
    const auto& report = outcome.report;
    if (outcome.outputs.streams.only && report.frames_of_streams.empty() && report.totals.frames_good() > 0)
        warnings.push_back(fmt::format("--isi {}: the signal is of a single input stream, which is received",
                                       int{*outcome.outputs.streams.only}));
    if (!outcome.device.failure.empty()) warnings.push_back(device_failure_text(outcome.device));
    if (!outcome.device.shortage.empty())
        warnings.push_back("memory of the device was short: " + outcome.device.shortage);
    if (const std::string why = refused_tokens(outcome); !why.empty()) warnings.push_back(why);
    if (!outcome.iq_failure.empty()) warnings.push_back("samples were not all kept: " + outcome.iq_failure);
    for (const OutputAccount& place : outcome.places)
        for (std::string& warning : warnings_of(place)) warnings.push_back(std::move(warning));
    return warnings;
}

std::string warnings_text(const RxOutcome& outcome) {
    std::string text;
    for (const std::string& warning : all_warnings(outcome)) text += "warning: " + plain_line(warning) + "\n";
    return text;
}

// Account of speed, not of time.
std::string rx_account_text(const RxOutcome& outcome) {
    std::string text;
    const RunAccount& account = outcome.account;
    if (account.choice) text = fmt::format("auto       {}\n", account.choice->line());
    const auto bits = static_cast<double>(outcome.report.totals.info_bits);
    const bool can_tell = account.forecast && account.came_to_us > 0 && account.forecast->least_us > 0;
    if (!can_tell || bits == 0) return text;
    const double bits_per_block = bits / static_cast<double>(outcome.run.frames);
    const Forecast mbps{bits_per_block / account.forecast->period_us,
                        bits_per_block / account.forecast->most_us,
                        bits_per_block / account.forecast->least_us};
    return text + fmt::format("forecast   {} Mb/s\n", in_words(mbps, bits_per_block / account.came_to_us));
}

std::string run_lines(const RxOutcome& outcome, bool stats) {
    return rx_account_text(outcome) + changes_text(outcome.changes) +
           energy_text(outcome.run.energy, outcome.report.totals.frames, stats) +
           best_possible_line(outcome.run) + device_text(outcome);
}

std::string tables(const RxOutcome& outcome) {
    std::string text = "\nTasks\n" + task_table(outcome.run) + "\n";
    if (const std::string kinds = kind_table(outcome.run); !kinds.empty())
        text += "Kinds of cores\n" + kinds + "\n";
    if (outcome.profile)
        text += "Schedule (from the profile)\n" +
                to_table(*outcome.schedule, outcome.profile->profile, outcome.model) + "\n";
    text += "Stages\n" + stage_table(outcome.run) + "\n";
    return outcome.executor == ExecutorKind::dynamic ? text : text + bottleneck(outcome.run) + "\n";
}

// Frames were decoded; why nothing came of them.
std::string nothing_given_out_text(const RxOutcome& outcome) {
    std::vector<std::string> reasons = fault_warnings(outcome);
    const dvbs2::ReceptionReport& report = outcome.report;
    if (outcome.outputs.streams.only &&
        report.packets.frames_of_other_streams == report.totals.frames_good()) {
        reasons.push_back(fmt::format("input stream {} is not there, the signal has {}",
                                      int{*outcome.outputs.streams.only},
                                      fmt::join(std::views::keys(report.frames_of_streams), ", ")));
    }
    if (outcome.all_not_sent() > 0) reasons.emplace_back("no port for what was received");
    if (reasons.empty()) reasons.emplace_back("they hold no whole packet");
    return fmt::format("{} frames decoded in {}, nothing received: {}", report.totals.frames_good(),
                       outcome.job.recording.data_path.string(), fmt::join(reasons, "; "));
}

}  // namespace

std::string account_text(const RxOutcome& outcome) {
    return fields_text(view_of(outcome)) + warnings_text(outcome);
}

std::string run_text(const RxOutcome& outcome, bool stats) {
    return run_lines(outcome, stats) + (stats ? tables(outcome) : "");
}

std::string report_text(const RxOutcome& outcome, bool stats) {
    return fields_text(view_of(outcome)) + run_lines(outcome, stats) + warnings_text(outcome) +
           (stats ? tables(outcome) : "");
}

std::string summary_text(const RxOutcome& outcome) {
    return last_line(outcome) + disturbed_line(view_of(outcome)) + warnings_text(outcome);
}

Json account_json(const RxOutcome& outcome) {
    Json json = fields_json(view_of(outcome));
    json["outputs"] = Json::array();
    for (const OutputAccount& place : outcome.places) json["outputs"].push_back(json_of(place));
    json["warnings"] = all_warnings(outcome);
    return json;
}

void add_run(const RxOutcome& outcome, Json& json) {
    json["schedule"] = used_schedule_json(outcome);
    json["choice"] = choice_json(outcome.account);
    json["forecast"] = forecast_json(outcome.account);
    json["adaptations"] = changes_json(outcome.changes);
    json["run"] = json_of(outcome.run);
    json["energy"] = json["run"]["energy"];
    const auto a_frame = outcome.run.energy.joules_per(static_cast<double>(outcome.report.totals.frames));
    json["energy"]["joules_per_frame"] = a_frame ? Json(*a_frame) : Json();
}

std::string report_json(const RxOutcome& outcome) {
    Json json = account_json(outcome);
    add_run(outcome, json);
    json["device"] = {{"frames", outcome.device.frames},
                      {"batches", outcome.device.batches},
                      {"frames_on_host", outcome.device.frames_on_host},
                      {"frames_finished_on_host", outcome.device.frames_finished}};
    if (outcome.ldpc_device) {
        json["device"]["id"] = outcome.ldpc_device->id;
        json["device"]["memory"] = outcome.ldpc_device->memory;
    }
    if (!outcome.device.shortage.empty()) json["device"]["shortage"] = outcome.device.shortage;
    if (const std::string why = refused_tokens(outcome); !why.empty()) json["device"]["refused_tokens"] = why;
    if (outcome.device_decision) json["device"]["why"] = outcome.device_decision->why;
    json["ip"] = outcome.ip;
    json["iq"] = outcome.iq;
    return to_text(json, 2);
}

namespace {

// Without a word the whole recording is taken for one carrier.
std::string scan_hint(const RxOutcome& outcome) {
    if (outcome.job.config.symbol_rate_hz > 0) return {};
    return ", or have the carriers in it listed: tidemill dvbs2 scan";
}

std::string why_nothing(const RxOutcome& outcome) {
    const std::string& path = outcome.job.recording.data_path.string();
    const dvbs2::ReceptionReport& report = outcome.report;
    const std::string no_signal = report.totals.frames == 0 ? why_no_signal(outcome) : "";
    if (outcome.interrupted) {
        return fmt::format("interrupted after {} samples of {}, before anything was received{}{}",
                           report.samples, path, no_signal.empty() ? "" : ": ", no_signal);
    }
    if (!no_signal.empty()) return fmt::format("no signal found in {}: {}", path, no_signal);
    if (report.sync.symbols == 0) {
        return fmt::format(
            "no signal found in {} ({} samples) at {} symbols/s with roll-off {:.2f}: check "
            "--symbol-rate and --rolloff{}",
            path, report.samples, io::hertz_text(report.symbol_rate_hz), outcome.job.config.rolloff,
            scan_hint(outcome));
    }
    if (report.totals.frames == 0 && report.sync.dummy_frames > 0) {
        return fmt::format("{} dummy frames found in {} at {} symbols/s, and none with data",
                           report.sync.dummy_frames, path, io::hertz_text(report.symbol_rate_hz));
    }
    if (report.totals.frames == 0) {
        return fmt::format(
            "a signal, but no DVB-S2 frames found in {} at {} symbols/s: check --symbol-rate{}", path,
            io::hertz_text(report.symbol_rate_hz), scan_hint(outcome));
    }
    if (report.totals.frames_good() > 0) return nothing_given_out_text(outcome);
    return fmt::format(
        "{} frames found in {}, none could be decoded (Es/N0 too low, or another --gold code than {})",
        report.totals.frames, path, outcome.job.config.gold_code);
}

}  // namespace

std::string failure_text(const RxOutcome& outcome) {
    std::string text = why_nothing(outcome);
    if (!outcome.instead.empty()) text += "; there: " + outcome.instead;
    // The receiver's result for another signal means nothing there.
    const bool is_weak =
        outcome.instead.empty() || outcome.instead.find("frame headers") != std::string::npos;
    if (!is_weak) return text;
    if (const std::string by = disturbances(view_of(outcome)); !by.empty()) text += "; disturbed: " + by;
    for (const std::string& of_input : {outcome.remarks, outcome.trouble})
        if (!of_input.empty()) text += "; " + of_input;
    return text;
}

}  // namespace tidemill::cli

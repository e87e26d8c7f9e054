#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/cli/dvbs2/rx_job.hpp"
#include "tidemill/cli/schedule_json.hpp"
#include "tidemill/run/insight/bottleneck.hpp"

namespace tidemill::cli {

namespace {

using Json = nlohmann::ordered_json;

// Frames' worth of symbols heard before the first one that was decoded.
std::uint64_t lock_frames(const RxOutcome& outcome) {
    const auto frame = static_cast<std::uint64_t>(layout_of(outcome.totals.usual_pls()).symbols);
    return outcome.totals.symbols_before / frame;
}

double recorded_s(const RxOutcome& outcome) {
    const double rate = outcome.job.recording.sample_rate_hz.value_or(0);
    return rate > 0 ? static_cast<double>(outcome.samples) / rate : 0;
}

Json losses_json(const RxOutcome& outcome) {
    return {{"frames_bad", outcome.totals.frames_bad},
            {"bad_headers", outcome.sync.bad_headers},
            {"locks", outcome.sync.locks},
            {"symbols_outside_frames", outcome.sync.symbols_outside},
            {"blocks_without_signal", outcome.blocks_without_signal},
            {"blocks_without_clock", outcome.blocks_without_clock},
            {"ts_packets_dropped", outcome.packets.packets_dropped},
            {"ts_packets_marked", outcome.packets.packets_marked},
            {"continuity_errors", outcome.continuity_errors},
            {"frames_faulty", outcome.packets.frames_faulty},
            {"frames_unsupported", outcome.packets.frames_unsupported},
            {"frames_of_other_streams", outcome.packets.frames_of_other_streams},
            {"samples_not_finite", outcome.defects.non_finite},
            {"samples_clipped", outcome.defects.clipped},
            {"samples_missing", outcome.missing_samples},
            {"trailing_bytes", outcome.job.recording.trailing_bytes}};
}

// Fields taken off packets, by what the standard calls them.
Json issy_json(const RxOutcome& outcome) {
    Json json = Json::object();
    for (std::size_t kind = 0; kind < dvbs2::kIssyKinds; ++kind) {
        const std::uint64_t fields = outcome.packets.issy_fields[kind];
        if (fields > 0) json[name(static_cast<dvbs2::IssyKind>(kind))] = fields;
    }
    return json;
}

Json used_schedule_json(const RxOutcome& outcome) {
    if (!outcome.schedule) return {};
    return outcome.profile ? schedule_json(*outcome.schedule, outcome.profile->profile)
                           : schedule_json(*outcome.schedule);
}

std::string received_text(const RxOutcome& outcome) {
    const dvbs2::Pls pls = outcome.totals.usual_pls();
    const dvbs2::Modcod& modcod = *dvbs2::find_modcod(pls.modcod);
    const double symbol_rate_hz = outcome.symbol_rate_hz();
    const std::uint64_t good_frames = outcome.totals.frames - outcome.totals.frames_bad;
    return fmt::format(
        "received   {} {}, {} frames, pilots {}{}, at {:.6g} ksymbol/s\n"
        "signal     Es/N0 {:.2f} dB, carrier {:+.1f} Hz, clock {:+.1f} ppm\n"
        "frames     {} ({} bad), locked after {} frames, {:.1f} LDPC iterations a frame, {} bits corrected "
        "by BCH\n",
        name(modcod.modulation), name(modcod.rate), name(pls.size), pls.pilots ? "on" : "off",
        outcome.totals.inverted ? ", spectrum inverted" : "", symbol_rate_hz / 1000, outcome.totals.esn0_db(),
        outcome.frequency_hz, outcome.clock_ppm, outcome.totals.frames, outcome.totals.frames_bad,
        lock_frames(outcome),
        static_cast<double>(outcome.totals.ldpc_iterations) /
            static_cast<double>(std::max(good_frames, std::uint64_t{1})),
        outcome.totals.corrected_bits);
}

std::string taken_out_text(const RxOutcome& outcome) {
    std::string text;
    if (std::isfinite(outcome.iq_offset_db))
        text = fmt::format("offset (DC) at {:.1f} dB", outcome.iq_offset_db);
    if (std::isfinite(outcome.iq_image_db))
        text += fmt::format("{}image at {:.1f} dB", text.empty() ? "" : ", ", outcome.iq_image_db);
    return text.empty() ? "" : fmt::format("I and Q    {} taken out\n", text);
}

std::string losses_text(const RxOutcome& outcome) {
    const Json losses = losses_json(outcome);
    std::string text;
    for (const auto& [name, count] : losses.items()) {
        if (name == "locks" ? count.get<std::uint64_t>() <= 1 : count.get<std::uint64_t>() == 0) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.get<std::uint64_t>(), name);
    }
    for (char& c : text) c = c == '_' ? ' ' : c;
    return fmt::format("losses     {}\n", text.empty() ? "none" : text);
}

std::string speed_text(const RxOutcome& outcome) {
    const std::string predicted =
        outcome.predicted_mbps ? fmt::format(", predicted {:.2f} Mb/s", *outcome.predicted_mbps) : "";
    const DurationReport& latency = outcome.run.latency;
    return fmt::format(
        "speed      {:.2f} Mb/s of information{}; {:.2f} s of signal in {:.2f} s\n"
        "latency    {:.2f} ms on average, 99 % within {:.2f} ms, at most {:.2f} ms\n",
        outcome.totals.info_mbps(), predicted, recorded_s(outcome), outcome.run.elapsed_s,
        latency.mean_us / 1000, latency.p99_us / 1000, latency.most_us / 1000);
}

// Why frames without errors were not used.
std::vector<std::string> fault_warnings(const RxOutcome& outcome) {
    std::vector<std::string> warnings;
    for (std::size_t fault = 1; fault < outcome.frames_by_fault.size(); ++fault) {
        const auto kind = static_cast<dvbs2::BbFault>(fault);
        if (outcome.frames_by_fault[fault] == 0 || kind == dvbs2::BbFault::other_input_stream) continue;
        warnings.push_back(
            fmt::format("{} frames not used: {}", outcome.frames_by_fault[fault], describe(kind)));
    }
    return warnings;
}

std::vector<std::string> all_warnings(const RxOutcome& outcome) {
    std::vector<std::string> warnings = outcome.job.warnings;
    for (std::string& warning : fault_warnings(outcome)) warnings.push_back(std::move(warning));
    return warnings;
}

Json streams_json(const RxOutcome& outcome) {
    Json json = Json::object();
    for (const auto& [stream, frames] : outcome.frames_of_streams) json[std::to_string(stream)] = frames;
    return json;
}

std::string streams_text(const RxOutcome& outcome) {
    if (outcome.frames_of_streams.empty()) return "";
    std::string text = "streams    several, frames of each:";
    for (const auto& [stream, frames] : outcome.frames_of_streams)
        text += fmt::format(" {}: {}", stream, frames);
    return text + "\n";
}

std::string extras_text(const RxOutcome& outcome) {
    std::string text;
    if (outcome.packets.null_packets > 0)
        text += fmt::format(", {} of them null packets put back", outcome.packets.null_packets);
    const Json issy = issy_json(outcome);
    for (const auto& [kind, fields] : issy.items())
        text += fmt::format(", {} {} taken off", fields.get<std::uint64_t>(), kind);
    return text;
}

void add_received(const RxOutcome& outcome, Json& json) {
    const dvbs2::Pls pls = outcome.totals.usual_pls();
    const dvbs2::Modcod& modcod = *dvbs2::find_modcod(pls.modcod);
    json["modulation"] = name(modcod.modulation);
    json["code_rate"] = name(modcod.rate);
    json["modcod"] = pls.modcod;
    json["frame"] = name(pls.size);
    json["pilots"] = pls.pilots;
    json["inverted_spectrum"] = outcome.totals.inverted;
    json["lock_frames"] = lock_frames(outcome);
    json["esn0_db"] = outcome.totals.esn0_db();
    json["frequency_offset_hz"] = outcome.frequency_hz;
    json["clock_offset_ppm"] = outcome.clock_ppm;
    json["iq_offset_db"] = outcome.iq_offset_db;
    json["iq_image_db"] = outcome.iq_image_db;
}

}  // namespace

std::string report_text(const RxOutcome& outcome) {
    std::string text = received_text(outcome) + taken_out_text(outcome) + streams_text(outcome) +
                       losses_text(outcome) + speed_text(outcome) + changes_text(outcome.changes) +
                       energy_line(outcome.run.energy, outcome.totals.frames);
    text +=
        fmt::format("output     {} packets{}{}\n\n", outcome.packets.packets,
                    outcome.output.empty() ? ", not written" : " in " + outcome.output, extras_text(outcome));
    text += "Tasks\n" + task_table(outcome.run) + "\n";
    if (outcome.profile)
        text +=
            "Schedule (from the profile)\n" + to_table(*outcome.schedule, outcome.profile->profile) + "\n";
    text += "Stages\n" + stage_table(outcome.run) + "\n";
    if (outcome.executor != "dynamic") text += bottleneck(outcome.run) + "\n";
    for (const std::string& warning : all_warnings(outcome)) text += "warning: " + warning + "\n";
    return text;
}

std::string report_json(const RxOutcome& outcome) {
    Json json;
    json["recording"] = outcome.job.recording.data_path.string();
    if (outcome.received()) add_received(outcome, json);
    json["frames"] = outcome.totals.frames;
    json["frames_bad"] = outcome.totals.frames_bad;
    json["frames_dummy"] = outcome.sync.dummy_frames;
    json["ts_packets"] = outcome.packets.packets;
    json["null_packets_put_back"] = outcome.packets.null_packets;
    json["issy_fields"] = issy_json(outcome);
    json["programmes"] = outcome.programmes;
    json["frames_of_streams"] = streams_json(outcome);
    json["frames_generic"] = outcome.generic_frames;
    json["symbol_rate_hz"] = outcome.symbol_rate_hz();
    json["rolloff"] = outcome.job.config.rolloff;
    json["gold_code"] = outcome.job.config.gold_code;
    json["info_mbps"] = outcome.totals.info_mbps();
    json["elapsed_s"] = outcome.run.elapsed_s;
    json["recorded_s"] = recorded_s(outcome);
    json["interrupted"] = outcome.interrupted;
    json["executor"] = outcome.executor;
    json["schedule"] = used_schedule_json(outcome);
    json["predicted_mbps"] = outcome.predicted_mbps ? Json(*outcome.predicted_mbps) : Json();
    json["predicted_period_us"] = outcome.predicted_period_us ? Json(*outcome.predicted_period_us) : Json();
    json["adaptations"] = changes_json(outcome.changes);
    json["losses"] = losses_json(outcome);
    json["run"] = Json::parse(to_json(outcome.run));
    json["energy"] = json["run"]["energy"];
    const auto a_frame = outcome.run.energy.joules_per(static_cast<double>(outcome.totals.frames));
    json["energy"]["joules_per_frame"] = a_frame ? Json(*a_frame) : Json();
    json["warnings"] = all_warnings(outcome);
    return json.dump(2);
}

std::string failure_text(const RxOutcome& outcome) {
    const std::string& path = outcome.job.recording.data_path.string();
    const double symbol_rate_hz = outcome.symbol_rate_hz();
    if (outcome.interrupted) {
        return fmt::format("interrupted after {} samples of {}, before anything was received",
                           outcome.samples, path);
    }
    if (!outcome.signal_seen) {
        return fmt::format(
            "no signal found in {} ({} samples) at {:.6g} symbols/s with roll-off {:.2f}: check "
            "--symbol-rate and --rolloff",
            path, outcome.samples, symbol_rate_hz, outcome.job.config.rolloff);
    }
    if (outcome.totals.frames == 0) {
        return fmt::format(
            "a signal, but no DVB-S2 frames found in {} at {:.6g} symbols/s: check --symbol-rate", path,
            symbol_rate_hz);
    }
    if (outcome.only_unsupported()) {
        return fmt::format("{}: {}", path, fmt::join(fault_warnings(outcome), "; "));
    }
    return fmt::format(
        "{} frames found in {}, none could be decoded (Es/N0 too low, or another --gold code than {})",
        outcome.totals.frames, path, outcome.job.config.gold_code);
}

}  // namespace tidemill::cli

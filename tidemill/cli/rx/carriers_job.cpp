#include "tidemill/cli/rx/carriers_job.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/dvbs2/scan_text.hpp"
#include "tidemill/cli/kinds_option.hpp"
#include "tidemill/cli/plain_text.hpp"
#include "tidemill/cli/rx/rx_line.hpp"
#include "tidemill/cli/rx/status_lines.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/dvbs2/receiver/band_receiver.hpp"
#include "tidemill/io/recording_reader.hpp"
#include "tidemill/io/stream_reader.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;
using dvbs2::BandReceiver;

std::string name_of_carrier(std::size_t number) {
    return fmt::format("c{}", number);
}

void refuse_for_several(const RxOptions& options) {
    const auto refuse = [](const char* what, const char* why) {
        throw WrongUsage(fmt::format("{} is for one carrier: {}", what, why));
    };
    if (options.page.any()) refuse("--page", "name it with --carrier N");
    if (!options.journal.empty()) refuse("--journal", "name it with --carrier N");
    if (options.iq.any()) refuse("--iq-out", "name it with --carrier N");
    if (!options.outputs.ip.places.empty()) refuse("--ip-out", "name it with --carrier N");
    if (!options.checkpoint.file.empty()) refuse("--checkpoint", "name it with --carrier N");
    if (!options.device.device.empty()) refuse("--device", "name it with --carrier N");
    if (options.reception.doppler) refuse("--doppler", "name it with --carrier N");
    if (!options.exit_on.empty()) refuse("--exit-on", "name it with --carrier N");
    if (options.reception.rolloff.is_auto() || options.reception.gold_code.is_auto())
        refuse("auto", "of all the roll-off is taken as their frames tell it; give --gold a number");
}

RxOutputOptions outputs_of(const RxOutputOptions& all, std::size_t carrier) {
    RxOutputOptions own = all;
    for (std::string& place : own.packets) place = place_of_carrier(place, carrier);
    own.bbframes = place_of_carrier(all.bbframes, carrier);
    own.generic = place_of_carrier(all.generic, carrier);
    return own;
}

/// The band, its carriers, and where each of them goes.
struct CarrierRun {
    ReceptionJob band{};
    std::vector<CarrierOutcome> carriers{};
    std::vector<std::unique_ptr<RxOutputWriter>> writers{};

    std::vector<dvbs2::CarrierOfBand> of_band(bool with_outputs) const {
        std::vector<dvbs2::CarrierOfBand> all;
        for (std::size_t k = 0; k < carriers.size(); ++k) {
            const ReceptionJob& job = carriers[k].outcome.job;
            all.push_back(
                {.name = name_of_carrier(carriers[k].number), .tuning = *job.tuning, .config = job.config});
            all.back().outputs.streams.packets = [](auto, auto) {};
            if (with_outputs) all.back().outputs = writers[k]->outputs();
        }
        return all;
    }
};

void check_number_of(const std::vector<NumberedCarrier>& chosen) {
    if (chosen.size() <= BandReceiver::kMostCarriers) return;
    throw JobFailed(
        fmt::format("{} carriers are there, and {} can be received at once: name one with --carrier N",
                    chosen.size(), BandReceiver::kMostCarriers));
}

CarrierRun prepare_carriers(const RxOptions& options) {
    CarrierRun run;
    run.band = prepare_band(options.reception);
    if (run.band.interrupted) return run;
    const auto chosen = choose_carriers({}, [&] { return open_preview(run.band); });
    check_number_of(chosen);
    for (const NumberedCarrier& one : chosen) {
        CarrierOutcome& carrier = run.carriers.emplace_back();
        carrier.number = one.number;
        carrier.outcome.job = job_of_carrier(options.reception, run.band, one.heard);
        carrier.outcome.outputs = outputs_of(options.outputs, one.number);
        carrier.outcome.outputs.live = run.band.stream != nullptr;
        run.writers.push_back(std::make_unique<RxOutputWriter>(carrier.outcome.outputs));
        tell("carrier {}  {}\n", one.number, carrier_options(one.heard));
        for (const std::string& place : carrier.outcome.outputs.packets) tell("{}", watch_hint(place));
    }
    return run;
}

// Of a band's beginning, which goes nowhere.
ReceptionProfile profile_carriers(const CarrierRun& carriers, const Topology& topology,
                                  const ProfileOptions& how) {
    ReceptionProfile result;
    Profiler profiler(topology, how);
    for (const CoreKind* const kind : profiler.kinds()) {
        const auto source = open_preview(carriers.band);
        BandReceiver receiver(*source, carriers.of_band(false));
        const auto [blocks, info_bits] =
            profiler.profile(receiver.graph(), *kind, [&] { return receiver.info_bits(); });
        result.info_bits_per_block = static_cast<double>(info_bits) / static_cast<double>(blocks);
    }
    result.profile = profiler.profile();
    return result;
}

void find_schedule(GraphRun& run, const Topology& topology, const CarrierRun& carriers, RxOutcome& together) {
    run.prepare([&](const ProfileOptions& how) {
        together.profile = profile_carriers(carriers, topology, how);
        return together.profile->profile;
    });
    together.predicted_period_us = run.predicted_period_us();
    if (together.profile)
        together.predicted_mbps = together.profile->info_bits_per_block / *together.predicted_period_us;
    announce(run, fmt::format("{:.2f} Mb/s", together.predicted_mbps.value_or(0)));
}

std::string progress_of(const BandReceiver& receiver, Clock::time_point start) {
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    std::size_t locked = 0;
    std::uint64_t frames = 0, bad = 0, bits = 0;
    for (std::size_t k = 0; k < receiver.carriers(); ++k) {
        const dvbs2::ReceptionNow now = receiver.now(k);
        locked += now.locked ? 1 : 0;
        frames += now.totals.frames;
        bad += now.totals.frames_bad;
        bits += now.totals.info_bits;
    }
    return fmt::format("{} of {} locked {:7.1f} s  {:8} frames  {:7.2f} Mb/s  {} bad", locked,
                       receiver.carriers(), elapsed.count(), frames,
                       static_cast<double>(bits) / elapsed.count() / 1e6, bad);
}

std::vector<StatusAsked> asked_of(const BandReceiver& receiver, const CarrierRun& run) {
    std::vector<StatusAsked> asked;
    for (std::size_t k = 0; k < run.carriers.size(); ++k)
        asked.push_back({RxStatus([&receiver, k] { return receiver.now(k); }, run.writers[k]->monitor(),
                                  run.band.stream.get()),
                         run.carriers[k].number});
    return asked;
}

// A carrier's own account; of all, the sums.
void account_for_carrier(const BandReceiver& receiver, std::size_t k, CarrierRun& run, RxOutcome& together) {
    RxOutcome& own = run.carriers[k].outcome;
    own.report = receiver.report(k);
    own.ts = seen_by(run.writers[k]->monitor());
    own.ts.packets = own.report.packets.packets;
    own.places = run.writers[k]->accounts();
    own.packets_not_sent = run.writers[k]->not_sent();
    own.run = together.run;
    own.executor = together.executor;
    own.interrupted = together.interrupted;
    together.report.totals.frames += own.report.totals.frames;
    together.report.totals.frames_bad += own.report.totals.frames_bad;
    together.report.totals.info_bits += own.report.totals.info_bits;
    together.ts.packets += own.ts.packets;
    together.report.samples = own.report.samples;
}

void account_for_run(const GraphRun& run, const WatchedRun& watched, const io::SampleSource& source,
                     RxOutcome& together) {
    together.executor = run.how().executor;
    together.schedule = run.schedule();
    together.changes = run.changes();
    together.run = watched.report();
    together.interrupted |= watched.interrupted();
    if (const auto* file = dynamic_cast<const io::RecordingReader*>(&source))
        together.missing_samples = file->missing_samples();
    if (const auto* stream = dynamic_cast<const io::StreamReader*>(&source))
        together.missing_samples = stream->source().losses().samples;
}

// Where one cannot, the others are closed all the same.
void close_all(const std::vector<std::unique_ptr<RxOutputWriter>>& writers) {
    std::exception_ptr failure;
    for (const auto& writer : writers) {
        try {
            writer->close();
        } catch (const JobFailed&) {
            failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

void run_carriers(const RxOptions& options, CarrierRun& carriers, RxOutcome& together) {
    const Topology topology = topology_by(options.running.kinds);
    GraphRun run(how_to_run(options, carriers.band.stream != nullptr), topology);
    find_schedule(run, topology, carriers, together);
    const std::unique_ptr<io::SampleSource> source = open_source(carriers.band);
    BandReceiver receiver(*source, carriers.of_band(true));
    WatchedRun watched(options.running, receiver.graph());
    StatusLines status(options.status, asked_of(receiver, carriers));
    watched.ends_with([&] {
        if (carriers.band.stream) carriers.band.stream->end();
        for (const auto& writer : carriers.writers) writer->hurry();
    });
    watched.go(run, {.observers = options.observers},
               [&, start = Clock::now()] { return progress_of(receiver, start); });
    close_all(carriers.writers);
    status.close();
    watched.write(run);
    account_for_run(run, watched, *source, together);
    for (std::size_t k = 0; k < carriers.carriers.size(); ++k)
        account_for_carrier(receiver, k, carriers, together);
}

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

bool CarriersOutcome::received() const {
    return std::ranges::any_of(carriers, [](const CarrierOutcome& one) { return one.outcome.received(); });
}

std::string CarriersOutcome::failed_places() const {
    std::vector<std::string> failed;
    for (const CarrierOutcome& one : carriers)
        if (std::string text = one.outcome.failed_places(); !text.empty()) failed.push_back(std::move(text));
    return fmt::format("{}", fmt::join(failed, "\n"));
}

std::string place_of_carrier(const std::string& place, std::size_t carrier) {
    if (place.empty()) return place;
    if (is_standard_stream(place))
        throw WrongUsage("--carrier all writes a file for each carrier: name one with --output");
    if (is_network_output(place)) {
        const auto own = place_of_stream(place, static_cast<int>(carrier) - 1);
        if (!own)
            throw WrongUsage(
                fmt::format("--output {}: there is no such port for carrier {}", place, carrier));
        return *own;
    }
    const std::filesystem::path path(place);
    return (path.parent_path() /
            fmt::format("{}.{}{}", path.stem().string(), name_of_carrier(carrier), path.extension().string()))
        .string();
}

CarriersOutcome receive_carriers(const RxOptions& options) {
    refuse_for_several(options);
    outputs_of(options.outputs, 1);  // refuses what cannot be, before anything is searched
    CarriersOutcome all;
    CarrierRun run = prepare_carriers(options);
    all.together.interrupted = run.band.interrupted;
    if (!run.carriers.empty()) run_carriers(options, run, all.together);
    all.carriers = std::move(run.carriers);
    all.together.job = std::move(run.band);
    warn_of_digest(all.together);
    return all;
}

std::string carriers_text(const CarriersOutcome& all, bool stats) {
    std::string text;
    for (const CarrierOutcome& one : all.carriers) {
        const RxOutcome& own = one.outcome;
        text += stats ? fmt::format("carrier    {}\n{}\n", one.number, account_text(own))
                      : fmt::format("carrier {}   {}{}", one.number, last_line(own), warnings_text(own));
    }
    if (stats) text += sum_line(all);
    for (const std::string& warning : warnings_of_band(all)) text += "warning: " + plain_line(warning) + "\n";
    return stats ? text + run_text(all.together, true) : text;
}

std::string carriers_json(const CarriersOutcome& all) {
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

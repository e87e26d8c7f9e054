#include "tidemill/cli/rx/rx_job.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/kinds_option.hpp"
#include "tidemill/cli/output.hpp"
#include "tidemill/cli/rx/rx_fields.hpp"
#include "tidemill/cli/rx/rx_guard.hpp"
#include "tidemill/cli/rx/rx_line.hpp"
#include "tidemill/cli/rx/rx_status.hpp"
#include "tidemill/cli/rx/status_lines.hpp"
#include "tidemill/cli/rx_page/rx_page.hpp"
#include "tidemill/cli/rx_page/rx_views.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/cli/watch.hpp"
#include "tidemill/device/device_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recording_reader.hpp"
#include "tidemill/io/stream_reader.hpp"
#include "tidemill/io/ts_services.hpp"
#include "tidemill/io/udp_sender.hpp"
#include "tidemill/run/journal/journal.hpp"

namespace tidemill::cli {

namespace {

// On a terminal the state all the time; in a log it is told when it changes.
std::function<std::string()> progress_of(const RxStatus& status) {
    return [status, start = std::chrono::steady_clock::now()] {
        if (!Watch::draws()) return std::string();
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        return state_line(status.view_at(elapsed.count()));
    };
}

// A device that refuses is done without, where that is wanted.
ReceptionProfile profiled(const Topology& topology, const ProfileOptions& how, RxOutcome& outcome) {
    const dvbs2::LdpcOnDevice* const device = outcome.ldpc_device.get();
    try {
        return profile_reception(outcome.job, topology, how, device);
    } catch (const DeviceError& error) {
        if (!device || !device->falls_back) throw;
        outcome.device.failure = error.what();
        warn(fmt::format("the device failed, and the host goes on: {}", error.what()));
        return profile_reception(outcome.job, topology, how);
    }
}

bool names_device(const Schedule& schedule, const Topology& topology) {
    return std::ranges::any_of(schedule.stages, [&](const Stage& stage) {
        return stage.batch &&
               std::ranges::find(topology.kinds, stage.core_kind, &CoreKind::name) == topology.kinds.end();
    });
}

// Finds the schedule, where there is to be one, and says what it promises.
void prepare(GraphRun& run, const Topology& topology, RxOutcome& outcome) {
    if (run.how().schedule && !outcome.ldpc_device && names_device(*run.how().schedule, topology))
        throw WrongUsage(
            "--schedule: it has a stage on a device: name that with --device, as tidemill topo does, or make "
            "a "
            "schedule without");
    run.prepare([&](const ProfileOptions& how) {
        outcome.profile = profiled(topology, how, outcome);
        return outcome.profile->profile;
    });
    outcome.device_decision = run.device_decision();
    // Where a forecast was made, it decides.
    const bool is_used = outcome.profile ? run.device_decision() && run.device_decision()->device : true;
    if (is_used) outcome.job.config.ldpc_device = outcome.ldpc_device.get();
    outcome.predicted_period_us = run.predicted_period_us();
    if (outcome.profile)
        outcome.predicted_mbps = outcome.profile->info_bits_per_block / *outcome.predicted_period_us;
    announce(run, fmt::format("{:.2f} Mb/s", outcome.predicted_mbps.value_or(0)));
}

// A schedule file tells the time of a block; what a block carries is known only now.
void predict_from_period(RxOutcome& outcome) {
    if (!outcome.predicted_period_us || outcome.predicted_mbps || outcome.run.frames == 0) return;
    outcome.predicted_mbps = static_cast<double>(outcome.report.totals.info_bits) /
                             static_cast<double>(outcome.run.frames) / *outcome.predicted_period_us;
}

}  // namespace

std::uint64_t RxOutcome::all_not_sent() const {
    std::uint64_t sum = 0;
    for (const auto& [stream, packets] : packets_not_sent) sum += packets;
    return sum;
}

std::string RxOutcome::failed_places() const {
    std::string text;
    for (const PlaceAccount& each : places)
        if (!each.failure.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", each.failure);
    if (!iq_failure.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", iq_failure);
    return text;
}

bool RxOutcome::received() const {
    const bool bbframes = !outputs.bbframes.empty() && report.totals.frames_good() > 0;
    return report.packets.packets > all_not_sent() || report.generic_frames > 0 || bbframes;
}

namespace {

// What only the source knows: the samples as they were recorded, before a tuner made others of them.
void account_for(const io::SampleSource& source, RxOutcome& outcome) {
    if (const auto* tuned = dynamic_cast<const dvbs2::TunedSource*>(&source)) {
        outcome.report.samples = tuned->samples();
        outcome.report.samples_clipped = tuned->defects().clipped;
        outcome.report.samples_not_finite = tuned->defects().non_finite;
        account_for(tuned->source(), outcome);
        return;
    }
    if (const auto* file = dynamic_cast<const io::RecordingReader*>(&source))
        outcome.missing_samples = file->missing_samples();
    const auto* stream = dynamic_cast<const io::StreamReader*>(&source);
    if (!stream) return;
    outcome.missing_samples = stream->source().losses().samples;
    if (const std::string remarks = stream->source().remarks(); !remarks.empty())
        outcome.job.warnings.push_back(remarks);
}

}  // namespace

HowToRun how_to_run(const RxOptions& options, bool live) {
    HowToRun how = options.running.how;
    if (live && !options.executor_given && !how.schedule && !how.latency_us && !how.adapt &&
        !how.scheduling.cores)
        how.executor = Executor::sequence;
    return how;
}

namespace {

// The packets of the first stream that comes are those of its services.
void also_count(io::TsServices& services, dvbs2::RxOutputs& also) {
    also.streams.packets = [&services, before = also.streams.packets, first = std::optional<std::uint8_t>()](
                               std::span<const std::uint8_t> packets, std::uint8_t stream) mutable {
        if (before) before(packets, stream);
        if (!first) first = stream;
        if (*first == stream) services.look(packets);
    };
}

// What a player on this machine opens.
std::string player_of(const std::vector<std::string>& places) {
    const auto sent = std::ranges::find_if(places, [](const auto& place) { return io::is_udp_url(place); });
    return sent == places.end() ? "" : fmt::format("udp://@:{}", io::parse_udp_url(*sent).port);
}

RxPlace place_of(const RxOptions& options, const ReceptionJob& job) {
    return {.name = job.recording.data_path.string(),
            .tuned_hz = job.config.tuned_hz,
            .rolloff = job.config.rolloff,
            .player = player_of(options.outputs.packets),
            .can_save = !options.page.folder.empty()};
}

std::unique_ptr<IqSaver> iq_saver(const RxOptions& options, const io::SampleSource& samples,
                                  const ReceptionJob& job) {
    if (options.page.folder.empty()) return nullptr;
    io::SigmfMetadata metadata;
    metadata.format = samples.format();
    metadata.sample_rate_hz = samples.sample_rate_hz();
    metadata.center_frequency_hz = middle_frequency_hz(job, options.reception.radio.frequency_hz);
    return std::make_unique<IqSaver>(options.page.folder, metadata);
}

// Whoever keeps samples is told which frames were in them.
RxOutputOptions heard_by(std::optional<IqOutputs>& iq, RxOutputOptions outputs) {
    outputs.also.frames = [&iq, others = outputs.also.frames](const dvbs2::ReceivedFrame& frame) {
        if (iq) iq->look(frame);
        if (others) others(frame);
    };
    return outputs;
}

void account_for_iq(IqOutputs& iq, RxOutcome& outcome) {
    iq.close();
    outcome.iq = iq.account();
    outcome.iq_failure = iq.failure();
}

// What the run, the receiver and the places say in the end.
void take_account(const GraphRun& run, const WatchedRun& watched, const dvbs2::Receiver& receiver,
                  const RxOutputWriter& writer, const io::SampleSource& source, RxOutcome& outcome) {
    outcome.executor = run.how().executor;
    outcome.schedule = run.schedule();
    outcome.changes = run.changes();
    outcome.run = watched.report();
    outcome.interrupted = watched.interrupted() || outcome.job.interrupted;
    outcome.report = receiver.report();
    account_for(source, outcome);
    if (outcome.job.stream) outcome.trouble = outcome.job.stream->trouble();
    if (outcome.job.config.ldpc_device) outcome.device = receiver.ldpc_device_use();
    outcome.ts = seen_by(writer.monitor());
    outcome.packets_not_sent = writer.not_sent();
    outcome.places = writer.accounts();
    outcome.ip = writer.ip_counts();
    outcome.ts.packets = outcome.report.packets.packets;  // of all streams
    predict_from_period(outcome);
}

}  // namespace

void warn_of_digest(RxOutcome& outcome) {
    if (outcome.interrupted || outcome.job.stream) return;
    const std::string disagreement = io::check_digest(outcome.job.recording);
    if (!disagreement.empty()) outcome.job.warnings.push_back(disagreement);
}

RxOutcome receive(const RxOptions& options) {
    RxOutcome outcome;
    // Before there are threads, and before anything from outside is read.
    std::vector<io::TunDevice> interfaces = open_interfaces(options.outputs.ip);
    const bool alone = !options.running.stop.stop_possible();
    RxGuard guard(options.exit_on, alone);
    RxPage page(options.page);
    if (!page.url().empty()) tell("look       {}\n", page.url());
    outcome.job = prepare(options.reception);
    outcome.ldpc_device = ldpc_device(options.device);
    outcome.outputs = options.outputs;
    outcome.outputs.live = outcome.job.stream != nullptr;
    io::TsServices services;
    if (options.page.any()) also_count(services, outcome.outputs.also);
    std::optional<IqOutputs> iq;
    RxOutputWriter writer(options.iq.any() ? heard_by(iq, outcome.outputs) : outcome.outputs,
                          std::move(interfaces));
    const Topology topology = topology_by(options.running.kinds);
    outcome.job.config.live = outcome.outputs.live;
    GraphRun run(how_to_run(options, outcome.outputs.live), topology);
    prepare(run, topology, outcome);

    const std::unique_ptr<io::SampleSource> source = open_source(outcome.job);
    CountedSource counted(*source);
    if (options.iq.any())
        iq.emplace(options.iq, outcome.job, options.reception.radio.frequency_hz, counted,
                   outcome.outputs.live);
    io::SampleSource& samples = iq ? static_cast<io::SampleSource&>(*iq) : counted;
    dvbs2::Receiver receiver(samples, outcome.job.config, writer.outputs());
    if (iq) iq->watch(receiver);
    WatchedRun watched(options.running, receiver.graph());
    StatusLines status(options.status, {{RxStatus(receiver, writer.monitor(), outcome.job.stream.get())}});
    watched.ends_with([&stream = outcome.job.stream, &writer] {
        if (stream) stream->end();
        writer.hurry();
    });
    RunOptions how{.observers = options.observers};
    const std::unique_ptr<Journal> journal =
        options.journal.empty() ? nullptr : std::make_unique<Journal>(std::filesystem::path(options.journal));
    how.journal = journal.get();
    std::optional<RxViews> views;
    if (options.page.any()) {
        views.emplace(receiver, RxStatus(receiver, writer.monitor(), outcome.job.stream.get()), counted,
                      services, place_of(options, outcome.job));
        how.observers.push_back(&views->observer());
    }
    const std::unique_ptr<IqSaver> saver = iq_saver(options, *source, outcome.job);
    counted.also_to(saver.get());
    KeptRun kept(options.checkpoint, receiver.graph());
    kept.put_into(how);
    for (const std::string& place : outcome.outputs.packets)
        if (alone) tell("{}", watch_hint(place));
    {
        const RxGuard::Watched guarded(guard, receiver, writer.monitor(), outcome.job.stream.get(), counted);
        std::optional<RxPage::Shown> shown;
        if (views) shown.emplace(page, *views, saver.get());
        const auto follow = [&](const Schedule& schedule) {
            if (views) views->follow(schedule);
        };
        watched.go(run, how, progress_of(RxStatus(receiver, writer.monitor(), outcome.job.stream.get())),
                   follow);
    }
    outcome.ended_by = guard.ended_by();
    if (iq) account_for_iq(*iq, outcome);
    writer.close();
    status.close();
    watched.write(run);
    if (views) page.write_report(*views);
    take_account(run, watched, receiver, writer, *source, outcome);
    warn_of_digest(outcome);
    return outcome;
}

}  // namespace tidemill::cli

#include "tidemill/cli/dvbs2/rx_job.hpp"

#include <chrono>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/cores.hpp"
#include "tidemill/cli/dvbs2/rx_fields.hpp"
#include "tidemill/cli/dvbs2/rx_status.hpp"
#include "tidemill/cli/output.hpp"
#include "tidemill/cli/watch.hpp"
#include "tidemill/io/byte_writer.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recording_reader.hpp"
#include "tidemill/run/dynamic/dynamic.hpp"
#include "tidemill/run/pipeline.hpp"
#include "tidemill/run/sequence.hpp"
#include "tidemill/schedule/herad.hpp"
#include "tidemill/schedule/schedule_file.hpp"

namespace tidemill::cli {

namespace {

// Frames that may wait between two stages. Decoding times vary from frame to frame; and where other programs
// want the cores too, a stage must find work for the whole slice of time that it gets.
constexpr std::size_t kRingDepth = 32;

std::string progress_line(const dvbs2::Receiver& receiver, std::chrono::steady_clock::time_point start) {
    const dvbs2::ReceptionNow now = receiver.now();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return fmt::format("{:<8} {:7.1f} s  {:8} frames  {:7.2f} Mb/s  Es/N0 {:5.2f} dB  {} bad", phase_of(now),
                       elapsed.count(), now.totals.frames,
                       static_cast<double>(now.totals.info_bits) / elapsed.count() / 1e6,
                       now.totals.last_esn0_db, now.totals.frames_bad);
}

void choose_schedule(const RxOptions& options, const Topology& topology, RxOutcome& outcome) {
    outcome.executor = options.executor;
    if (options.adapt.adapt && (options.executor != "pipeline" || !options.schedule.empty()))
        throw WrongUsage("--adapt needs a profile: leave out --schedule and --executor");
    if (options.executor == "dynamic") {
        if (options.schedule.empty()) return;
        throw WrongUsage("--executor dynamic schedules while it runs: leave out --schedule");
    }
    if (options.executor == "sequence") {
        if (options.schedule.empty() && options.cores.empty()) return;
        throw WrongUsage("--executor sequence runs on one thread: leave out --cores and --schedule");
    }
    if (!options.schedule.empty()) {
        outcome.schedule = read_schedule(options.schedule);
        outcome.predicted_period_us = outcome.schedule->period_us;
        return;
    }
    const Platform platform = chosen_platform(options.cores, topology);
    outcome.profile = profile_reception(outcome.job, topology, platform, options.profile_s);
    outcome.schedule = herad(outcome.profile->profile, platform);
    const double predicted_us = period_us(*outcome.schedule, outcome.profile->profile);
    outcome.predicted_period_us = predicted_us;
    outcome.predicted_mbps = outcome.profile->info_bits_per_block / predicted_us;
}

RunReport run_dynamic(dvbs2::Receiver& receiver, const RxOptions& options, const Topology& topology,
                      const RunOptions& run) {
    DynamicOptions dynamic{.workers = 0, .policy = options.policy, .window = {.iterations = kRingDepth}};
    for (const CoreCount& kind : chosen_platform(options.cores, topology).kinds()) {
        dynamic.workers += static_cast<std::size_t>(kind.count);
    }
    return Dynamic(receiver.graph(), dynamic).run(run);
}

RunReport run_pipeline(dvbs2::Receiver& receiver, const RxOptions& options, RxOutcome& outcome,
                       const Topology& topology, const RunOptions& run) {
    Pipeline pipeline(receiver.graph(), *outcome.schedule, {&topology, kRingDepth, WaitMode::mixed});
    if (!options.adapt.adapt) return pipeline.run(run);
    AdaptedRun adapted = run_adapting(
        pipeline, outcome.profile->profile, *outcome.schedule,
        {.cores = chosen_platform(options.cores, topology), .threshold = options.adapt.threshold},
        options.adapt.every_s, run);
    outcome.changes = std::move(adapted.changes);
    return std::move(adapted.report);
}

RunReport run_receiver(dvbs2::Receiver& receiver, const RxOptions& options, RxOutcome& outcome,
                       const Topology& topology, const RunOptions& run) {
    if (options.executor == "dynamic") return run_dynamic(receiver, options, topology, run);
    if (!outcome.schedule) return Sequence(receiver.graph()).run(run);
    return run_pipeline(receiver, options, outcome, topology, run);
}

void announce(const RxOutcome& outcome) {
    if (!outcome.predicted_mbps) return;
    fmt::print(stderr, "scheduled in {} stages on {} threads, predicted {:.2f} Mb/s\n",
               outcome.schedule->stages.size(), outcome.schedule->thread_count(), *outcome.predicted_mbps);
}

/// Status lines while it lives, where they are wanted.
class StatusLines {
  public:
    StatusLines(const std::string& place, const dvbs2::Receiver& receiver, const io::TsMonitor& packets)
        : status_(receiver, packets) {
        if (place.empty()) return;
        writing([&] { file_.emplace(place); });
        ticks_.emplace([this](double now_s) { write(status_.line(now_s) + "\n"); });
    }

    /// The last line; throws JobFailed when one could not be written.
    void close() {
        ticks_.reset();
        if (file_) writing([&] { file_->close(); });
    }

  private:
    // A full disk must not end the reception: close() tells of it.
    void write(const std::string& line) {
        try {
            file_->write({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
            file_->flush();
        } catch (const io::IoError&) {
        }
    }

    RxStatus status_;
    std::optional<io::ByteWriter> file_;
    std::optional<EverySecond> ticks_;
};

// A schedule file tells the time of a block; what a block carries is known only now.
void predict_from_period(RxOutcome& outcome) {
    if (!outcome.predicted_period_us || outcome.predicted_mbps || outcome.run.frames == 0) return;
    outcome.predicted_mbps = static_cast<double>(outcome.report.totals.info_bits) /
                             static_cast<double>(outcome.run.frames) / *outcome.predicted_period_us;
}

}  // namespace

RxOutcome receive(const RxOptions& options) {
    RxOutcome outcome;
    outcome.job = prepare(options.reception);
    outcome.output = options.outputs.packets;
    for (const std::string& place :
         {options.outputs.packets, options.outputs.bbframes, options.outputs.generic}) {
        refuse_overwriting(place, outcome.job.recording.data_path);
    }
    RxOutputWriter writer(options.outputs);
    const Topology topology = Topology::here();
    const FoundEnergyMeter energy = find_energy_meter(options.energy_meter);
    choose_schedule(options, topology, outcome);
    announce(outcome);

    const std::unique_ptr<io::SampleSource> source = open_source(outcome.job);
    dvbs2::Receiver receiver(*source, outcome.job.config, writer.outputs());
    Insight insight(options.insight, receiver.graph());
    StatusLines status(options.status, receiver, writer.monitor());
    {
        const auto start = std::chrono::steady_clock::now();
        const Watch watch([&] { return progress_line(receiver, start); });
        RunOptions run{.stop = watch.stop(), .energy_meter = energy.meter.get()};
        insight.watch(run);
        outcome.run = run_receiver(receiver, options, outcome, topology, run);
        outcome.interrupted = watch.interrupted();
    }
    if (!energy.meter) outcome.run.energy.not_measured = energy.reason;
    receiver.finish();
    writer.close();
    status.close();
    insight.write(outcome.schedule, outcome.run);
    if (const auto* file = dynamic_cast<const io::RecordingReader*>(source.get())) {
        outcome.missing_samples = file->missing_samples();
    }
    outcome.report = receiver.report();
    outcome.ts = seen_by(writer.monitor());
    outcome.ts.packets = outcome.report.packets.packets;  // of all streams
    predict_from_period(outcome);
    // Only now, because it reads the whole file once more.
    if (!outcome.interrupted && !outcome.job.is_stream) {
        const std::string disagreement = io::check_digest(outcome.job.recording);
        if (!disagreement.empty()) outcome.job.warnings.push_back(disagreement);
    }
    return outcome;
}

}  // namespace tidemill::cli

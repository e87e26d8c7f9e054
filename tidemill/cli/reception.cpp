#include "tidemill/cli/reception.hpp"

#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/cli/command.hpp"
#include "tidemill/cli/sample_format_name.hpp"
#include "tidemill/io/recording_reader.hpp"
#include "tidemill/platform/affinity.hpp"
#include "tidemill/run/profiler.hpp"

namespace tidemill::cli {

namespace {

void check_settings(const ReceptionOptions& options, const io::Recording& recording) {
    if (!std::isfinite(options.symbol_rate_hz) || !std::isfinite(options.sample_rate_hz)) {
        throw WrongUsage("--symbol-rate and --sample-rate must be finite numbers");
    }
    const double sample_rate_hz = recording.sample_rate_hz.value_or(0);
    if (options.symbol_rate_hz > 0 && sample_rate_hz == 0) {
        throw WrongUsage("the recording does not tell its sample rate: give --sample-rate");
    }
    try {
        dvbs2::FrontGeometry(
            {sample_rate_hz > 0 ? sample_rate_hz : 2,
             options.symbol_rate_hz > 0 ? options.symbol_rate_hz : std::max(sample_rate_hz / 2, 1.0),
             options.rolloff, dvbs2::kMaxBlockSamples});
        dvbs2::PlScrambler scrambler(options.gold_code);
    } catch (const std::invalid_argument& error) {
        throw WrongUsage(error.what());
    }
}

// Profiles one kind of core, on a receiver of its own.
void profile_kind(const ReceptionJob& job, const CoreKind& kind, const PuSet& pus, double seconds,
                  ReceptionProfile& result) {
    using Clock = std::chrono::steady_clock;
    const PinGuard pinned(pus);
    if (pinned.error()) result.warnings.push_back("profile not pinned: " + pinned.error()->reason);
    io::RecordingReader reader(job.recording);
    dvbs2::Receiver receiver(reader, job.config, [](auto) {});
    const dvbs2::FrameTotals& totals = receiver.sink().totals();
    Sequence sequence(receiver.graph());

    // Learning, tables made at first use and fresh memory are not what a stream costs in the long run.
    RunReport report = sequence.run({.stop_when = [&] { return totals.info_bits > 0; }});
    const std::uint64_t bits_before = totals.info_bits;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    const RunReport steady = sequence.run({.stop_when = [&] { return Clock::now() >= end; }});
    const bool long_enough = steady.frames > 0 && totals.info_bits > bits_before;
    if (long_enough) report = steady;
    const std::uint64_t bits = totals.info_bits - (long_enough ? bits_before : 0);
    result.info_bits_per_block = static_cast<double>(bits) / static_cast<double>(report.frames);
    add_weights(result.profile, kind.name, sequence.structure(), report);
}

}  // namespace

ReceptionJob prepare(const ReceptionOptions& options) {
    io::RecordingHints hints;
    if (!options.format.empty()) hints.format = sample_format_of(options.format);
    if (options.sample_rate_hz > 0) hints.sample_rate_hz = options.sample_rate_hz;
    ReceptionJob job{io::open_recording(options.recording, hints), {}, {}};
    check_settings(options, job.recording);
    job.config.symbol_rate_hz = options.symbol_rate_hz;
    job.config.rolloff = options.rolloff;
    job.config.gold_code = options.gold_code;
    job.warnings = job.recording.warnings;
    return job;
}

ReceptionProfile profile_reception(const ReceptionJob& job, const Topology& topology,
                                   const Platform& platform, double seconds) {
    ReceptionProfile result;
    for (const CoreKind& kind : topology.kinds) {
        if (platform.count(kind.name) == 0) continue;
        profile_kind(job, kind, topology.cores[kind.cores.front()].pus, seconds, result);
    }
    return result;
}

}  // namespace tidemill::cli

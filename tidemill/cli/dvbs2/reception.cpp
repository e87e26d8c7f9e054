#include "tidemill/cli/dvbs2/reception.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/dvbs2/ldpc_batch_cost.hpp"
#include "tidemill/cli/dvbs2/signal_search.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"
#include "tidemill/dvbs2/search/tuning_plan.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recording_reader.hpp"
#include "tidemill/io/stream_reader.hpp"
#include "tidemill/schedule/device_choice.hpp"

namespace tidemill::cli {

namespace {

SearchFor searched(const ReceptionOptions& options) {
    return {.symbol_rate = options.symbol_rate_hz && options.symbol_rate_hz->is_auto(),
            .rolloff = options.rolloff.is_auto(),
            .gold_code = options.gold_code.is_auto()};
}

// What is searched has its usual value until it is found.
dvbs2::ReceiverConfig config_of(const ReceptionOptions& options) {
    dvbs2::ReceiverConfig config;
    config.symbol_rate_hz = options.symbol_rate_hz.value_or(OrAuto<double>()).value.value_or(0);
    config.rolloff = options.rolloff.value.value_or(0.20);
    config.gold_code = options.gold_code.value.value_or(0);
    return config;
}

// Settings and rates at which nothing can be received are wrong usage.
template <class Check>
auto as_usage(Check check) {
    try {
        return check();
    } catch (const dvbs2::Dvbs2Error& error) {
        throw WrongUsage(error.what());
    }
}

void check_settings(const ReceptionJob& job, const SearchFor& search) {
    if ((job.config.symbol_rate_hz > 0 || search.anything()) && !job.recording.sample_rate_hz)
        throw WrongUsage("the recording does not tell its sample rate: give --sample-rate");
    as_usage([&] {
        dvbs2::FrontGeometry({2, 1, job.config.rolloff, dvbs2::kMaxBlockSamples});
        return dvbs2::PlScrambler(job.config.gold_code);
    });
}

// A recording of which nothing is said has two samples a symbol, and its carrier about the middle.
void lay_tuner(const ReceptionOptions& options, ReceptionJob& job) {
    if (job.config.symbol_rate_hz == 0) {
        if (options.offset_hz)
            throw WrongUsage("--offset: give --symbol-rate, which tells how wide the carrier is");
        return;
    }
    const dvbs2::TuningPlan plan = as_usage([&] {
        const auto source = open_preview(job);
        return dvbs2::plan_tuning(*source,
                                  {job.config.symbol_rate_hz, job.config.rolloff, options.offset_hz});
    });
    job.tuning = plan.tuning;
    if (!plan.tuning) return;
    job.config.tuned_hz = plan.tuning->offset_hz;
    if (std::abs(job.config.tuned_hz - options.offset_hz.value_or(0)) > job.config.symbol_rate_hz / 2)
        job.warnings.push_back(fmt::format("the nearest carrier of {:.6g} symbols/s lies at {:+.6g} Hz",
                                           job.config.symbol_rate_hz, job.config.tuned_hz));
}

std::unique_ptr<io::SampleSource> tuned(std::unique_ptr<io::SampleSource> source, const ReceptionJob& job) {
    if (!job.tuning) return source;
    return std::make_unique<dvbs2::TunedSource>(std::move(source), *job.tuning);
}

// Samples come as they may; what is read here is kept and comes first.
ReceptionJob prepare_stream(const std::string& place, const io::RecordingHints& hints) {
    constexpr std::size_t kBeginningBytes = 8 << 20;
    const std::string name = is_standard_stream(place) ? "standard input" : place;
    const auto format = hints.format ? hints.format : io::raw_format(place);
    if (!format || !hints.sample_rate_hz) {
        throw WrongUsage(fmt::format(
            "{}: samples that stream in tell nothing of themselves: give --format and --sample-rate", name));
    }
    ReceptionJob job;
    job.recording.data_path = name;
    job.recording.format = *format;
    job.recording.sample_rate_hz = hints.sample_rate_hz;
    job.stream = std::make_unique<io::InputStream>(place);
    job.beginning = io::read_beginning(*job.stream, *format, kBeginningBytes);
    if (job.beginning.empty()) throw io::IoError(fmt::format("{} is empty: no samples came", name));
    return job;
}

}  // namespace

std::unique_ptr<io::SampleSource> open_source(ReceptionJob& job) {
    if (!job.stream) return tuned(std::make_unique<io::RecordingReader>(job.recording), job);
    return tuned(
        std::make_unique<io::StreamReader>(*job.stream, job.recording.format, job.recording.sample_rate_hz,
                                           std::exchange(job.beginning, {})),
        job);
}

std::unique_ptr<io::SampleSource> open_preview(const ReceptionJob& job) {
    if (!job.stream) return tuned(std::make_unique<io::RecordingReader>(job.recording), job);
    return tuned(
        std::make_unique<io::MemoryReader>(job.beginning, job.recording.format, job.recording.sample_rate_hz),
        job);
}

ReceptionJob prepare(const ReceptionOptions& options) {
    const io::RecordingHints hints{.format = options.format, .sample_rate_hz = options.sample_rate_hz};
    ReceptionJob job;
    if (io::InputStream::is_stream(options.recording)) {
        job = prepare_stream(options.recording, hints);
    } else {
        job.recording = io::open_recording(options.recording, hints);
    }
    const SearchFor search = searched(options);
    job.config = config_of(options);
    check_settings(job, search);
    lay_tuner(options, job);
    if (search.anything()) search_signal([&] { return open_preview(job); }, search, job.config);
    job.warnings.insert(job.warnings.begin(), job.recording.warnings.begin(), job.recording.warnings.end());
    return job;
}

ReceptionProfile profile_reception(const ReceptionJob& job, const Topology& topology,
                                   const ProfileOptions& how, const dvbs2::LdpcOnDevice* device) {
    ReceptionProfile result;
    double frames_per_block = 0;
    Profiler profiler(topology, how);
    for (const CoreKind* const kind : profiler.kinds()) {
        const std::unique_ptr<io::SampleSource> source = open_preview(job);
        dvbs2::Receiver receiver(*source, job.config, [](auto) {});
        const auto [blocks, info_bits] =
            profiler.profile(receiver.graph(), *kind, [&] { return receiver.totals().info_bits; });
        result.info_bits_per_block = static_cast<double>(info_bits) / static_cast<double>(blocks);
        const dvbs2::FrameTotals& totals = receiver.totals();
        if (totals.info_bits > 0)
            frames_per_block = result.info_bits_per_block * static_cast<double>(totals.frames) /
                               static_cast<double>(totals.info_bits);
    }
    result.profile = profiler.profile();
    if (!device || frames_per_block == 0) return result;
    const std::optional<BatchCost> cost = ldpc_batch_cost(job, *device, frames_per_block);
    if (cost) add_device(result.profile, "ldpc.decode", *cost);
    return result;
}

}  // namespace tidemill::cli

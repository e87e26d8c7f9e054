#include "tidemill/cli/dvbs2/reception.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/dvbs2/sample_format_name.hpp"
#include "tidemill/cli/dvbs2/signal_search.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recording_reader.hpp"
#include "tidemill/io/stream_reader.hpp"
#include "tidemill/platform/affinity.hpp"
#include "tidemill/run/weigh/profiler.hpp"

namespace tidemill::cli {

namespace {

constexpr const char* kSearched = "auto";

// The number in a text; `otherwise` for an empty one and for what is to be searched.
template <class Number>
Number number_of(const std::string& text, const char* option, Number otherwise) {
    if (text.empty() || text == kSearched) return otherwise;
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stopped != end || !std::isfinite(static_cast<double>(value))) {
        throw WrongUsage(fmt::format("{} {}: give a number or auto", option, text));
    }
    return value;
}

void read_settings(const ReceptionOptions& options, dvbs2::ReceiverConfig& config) {
    config.symbol_rate_hz = number_of(options.symbol_rate, "--symbol-rate", 0.0);
    config.rolloff = number_of(options.rolloff, "--rolloff", 0.20);
    config.gold_code = number_of(options.gold_code, "--gold", 0);
    const bool given = !options.symbol_rate.empty() && options.symbol_rate != kSearched;
    if (given && config.symbol_rate_hz <= 0) throw WrongUsage("--symbol-rate must be above 0");
}

void check_settings(const dvbs2::ReceiverConfig& config, const io::Recording& recording,
                    const SearchFor& search) {
    const double sample_rate_hz = recording.sample_rate_hz.value_or(0);
    if ((config.symbol_rate_hz > 0 || search.anything()) && sample_rate_hz == 0) {
        throw WrongUsage("the recording does not tell its sample rate: give --sample-rate");
    }
    try {
        dvbs2::FrontGeometry(
            {sample_rate_hz > 0 ? sample_rate_hz : 2,
             config.symbol_rate_hz > 0 ? config.symbol_rate_hz : std::max(sample_rate_hz / 2, 1.0),
             config.rolloff, dvbs2::kMaxBlockSamples});
        dvbs2::PlScrambler scrambler(config.gold_code);
    } catch (const dvbs2::Dvbs2Error& error) {
        throw WrongUsage(error.what());
    }
}

// Profiles one kind of core, on a receiver of its own.
void profile_kind(const ReceptionJob& job, const CoreKind& kind, const PuSet& pus, double seconds,
                  ReceptionProfile& result) {
    using Clock = std::chrono::steady_clock;
    const PinGuard pinned(pus);
    if (pinned.error()) result.warnings.push_back("profile not pinned: " + pinned.error()->reason);
    const std::unique_ptr<io::SampleSource> source = open_preview(job);
    dvbs2::Receiver receiver(*source, job.config, [](auto) {});
    const dvbs2::FrameTotals& totals = receiver.totals();
    Sequence sequence(receiver.graph());

    // Learning, tables made at first use and fresh memory are not what a stream costs in the long run.
    RunReport report = sequence.run({.stop_when = [&] { return totals.info_bits > 0; }});
    const std::uint64_t bits_before = totals.info_bits;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    const RunReport steady = sequence.run({.stop_when = [&] { return Clock::now() >= end; }});
    const bool long_enough = steady.frames > 0 && totals.info_bits > bits_before;
    if (long_enough) report = steady;
    const std::uint64_t bits = totals.info_bits - (long_enough ? bits_before : 0);
    result.info_bits_per_block =
        static_cast<double>(bits) / static_cast<double>(std::max<std::uint64_t>(report.frames, 1));
    add_weights(result.profile, kind.name, sequence, report);
}

// Samples come as they may; what is read here is kept and comes first.
ReceptionJob prepare_stream(const io::RecordingHints& hints) {
    constexpr std::size_t kBeginningBytes = 8 << 20;
    if (!hints.format || !hints.sample_rate_hz) {
        throw WrongUsage("samples on standard input tell nothing of themselves: give --format and --rate");
    }
    ReceptionJob job;
    job.is_stream = true;
    job.recording.data_path = "standard input";
    job.recording.format = *hints.format;
    job.recording.sample_rate_hz = hints.sample_rate_hz;
    job.beginning = io::read_beginning(STDIN_FILENO, *hints.format, kBeginningBytes);
    if (job.beginning.empty()) throw io::IoError("standard input is empty: no samples came");
    return job;
}

}  // namespace

std::unique_ptr<io::SampleSource> open_source(ReceptionJob& job) {
    if (!job.is_stream) return std::make_unique<io::RecordingReader>(job.recording);
    return std::make_unique<io::StreamReader>(STDIN_FILENO, job.recording.format,
                                              job.recording.sample_rate_hz, std::exchange(job.beginning, {}));
}

std::unique_ptr<io::SampleSource> open_preview(const ReceptionJob& job) {
    if (!job.is_stream) return std::make_unique<io::RecordingReader>(job.recording);
    return std::make_unique<io::MemoryReader>(job.beginning, job.recording.format,
                                              job.recording.sample_rate_hz);
}

ReceptionJob prepare(const ReceptionOptions& options) {
    if (!std::isfinite(options.sample_rate_hz)) throw WrongUsage("--sample-rate must be a finite number");
    io::RecordingHints hints;
    if (!options.format.empty()) hints.format = sample_format_of(options.format);
    if (options.sample_rate_hz > 0) hints.sample_rate_hz = options.sample_rate_hz;
    ReceptionJob job;
    if (options.recording == "-") {
        job = prepare_stream(hints);
    } else {
        job.recording = io::open_recording(options.recording, hints);
    }
    const SearchFor search{options.symbol_rate == kSearched, options.rolloff == kSearched,
                           options.gold_code == kSearched};
    read_settings(options, job.config);
    check_settings(job.config, job.recording, search);
    if (search.anything()) search_signal([&] { return open_preview(job); }, search, job.config);
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

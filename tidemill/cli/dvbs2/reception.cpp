#include "tidemill/cli/dvbs2/reception.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/dvbs2/ldpc_batch_cost.hpp"
#include "tidemill/cli/dvbs2/sample_format_name.hpp"
#include "tidemill/cli/dvbs2/scan_text.hpp"
#include "tidemill/cli/dvbs2/signal_search.hpp"
#include "tidemill/cli/watch.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"
#include "tidemill/dvbs2/receiver/carrier_survey.hpp"
#include "tidemill/dvbs2/search/tuning_plan.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live_kinds.hpp"
#include "tidemill/io/recording_reader.hpp"
#include "tidemill/io/stream_reader.hpp"
#include "tidemill/schedule/device_choice.hpp"

namespace tidemill::cli {

namespace {

constexpr const char* kNoRate = "the recording does not tell its sample rate: give --sample-rate";

// Of those that a search may find.
constexpr double kWidestRolloff = 0.35;

SearchFor searched(const ReceptionOptions& options) {
    return {.symbol_rate = options.symbol_rate_hz && options.symbol_rate_hz->is_auto(),
            .rolloff = options.rolloff.is_auto(),
            .gold_code = options.gold_code.is_auto()};
}

// 0: nobody knows yet.
double told_symbol_rate_hz(const ReceptionOptions& options) {
    return options.symbol_rate_hz.value_or(OrAuto<double>{0}).value.value_or(0);
}

// What is searched has its usual value until it is found.
dvbs2::ReceiverConfig receiver_config_of(const ReceptionOptions& options) {
    dvbs2::ReceiverConfig config;
    config.symbol_rate_hz = told_symbol_rate_hz(options);
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

void check_settings(const ReceptionJob& job) {
    if (!job.recording.sample_rate_hz) throw WrongUsage(kNoRate);
    as_usage([&] {
        dvbs2::FrontGeometry({2, 1, job.config.rolloff, dvbs2::kMaxBlockSamples});
        return dvbs2::PlScrambler(job.config.gold_code);
    });
}

// Where the carrier that is to be received lies, when only the user or a search can tell.
using WantedPlace = std::optional<double>;

// Listens to the carriers of the band, from the one nearest to the wanted place on, or to all when none is
// named.
std::vector<dvbs2::SurveyedCarrier> receivable(const WantedPlace& wanted, const ReceptionJob& job) {
    const auto open = [&] { return open_preview(job); };
    auto found = dvbs2::find_carriers(*open()).carriers;
    std::ranges::sort(found, {}, [&](const auto& c) { return std::abs(c.offset_hz - wanted.value_or(0)); });
    std::vector<dvbs2::SurveyedCarrier> carriers;
    for (const dvbs2::FoundCarrier& one : found) {
        if (wanted && !carriers.empty()) break;
        const auto heard = dvbs2::survey(open, one, dvbs2::SurveyDepth::frames);
        if (heard.kind == dvbs2::CarrierKind::dvbs2 || heard.kind == dvbs2::CarrierKind::dvbs2_weak)
            carriers.push_back(heard);
    }
    return carriers;
}

// One carrier of DVB-S2 is taken wherever it lies. Where the spectrum shows none, the whole band may be one.
WantedPlace search_carrier(const WantedPlace& wanted, ReceptionJob& job) {
    const auto carriers = receivable(wanted, job);
    if (carriers.empty()) {
        search_signal([&] { return open_preview(job); }, {.symbol_rate = true}, job.config);
        return wanted;
    }
    if (carriers.size() > 1) {
        std::string list;
        for (const auto& carrier : carriers) list += "\n  " + carrier_options(carrier);
        throw JobFailed(
            fmt::format("{} carriers are there; say which, or have them listed by tidemill dvbs2 scan:{}",
                        carriers.size(), list));
    }
    job.config.symbol_rate_hz = carriers.front().symbol_rate_hz;
    return carriers.front().seen.offset_hz;
}

// Puts the oscillator where the carrier would lie if its transmitter stood still: what was seen of it was
// seen at the beginning. A carrier that moves needs a tuner wherever it lies.
void follow_track(const dvbs2::TuningPlan& plan, double rolloff,
                  const std::shared_ptr<const dvbs2::DopplerTrack>& track, ReceptionJob& job) {
    if (!job.tuning)
        job.tuning = {.symbol_rate_hz = job.config.symbol_rate_hz,
                      .rolloff = rolloff,
                      .offset_hz = plan.seen ? plan.seen->offset_hz : track->hz_at(0)};
    job.tuning->offset_hz -= track->hz_at(0);
    job.tuning->doppler = track;
    as_usage([&] { dvbs2::check_tuning(*job.recording.sample_rate_hz, *job.tuning); });
}

// What a scan tells of a carrier, as if the user had said it. Returns where it lies.
double take_carrier(const dvbs2::SurveyedCarrier& carrier, ReceptionJob& job) {
    const CarrierCall call = call_of(carrier);
    job.config.symbol_rate_hz = call.symbol_rate_hz;
    if (job.config.rolloff == dvbs2::ReceiverConfig{}.rolloff && call.rolloff > 0)
        job.config.rolloff = call.rolloff;
    return call.offset_hz;
}

// A recording of which nothing is said has two samples a symbol, and its carrier about the middle.
void lay_tuner(const WantedPlace& wanted, bool any_rolloff,
               const std::shared_ptr<const dvbs2::DopplerTrack>& track, const ReceptionJob& band,
               ReceptionJob& job) {
    if (job.config.symbol_rate_hz == 0) {
        if (track)
            throw WrongUsage("--doppler: give --symbol-rate, which tells how wide the carrier is, or auto");
        if (wanted)
            throw WrongUsage("--offset: give --symbol-rate, which tells how wide the carrier is, or auto");
        return;
    }
    const double rolloff = any_rolloff ? kWidestRolloff : job.config.rolloff;
    const dvbs2::TuningPlan plan = as_usage([&] {
        const auto source = open_preview(band);
        return dvbs2::plan_tuning(*source, {job.config.symbol_rate_hz, rolloff, wanted});
    });
    job.tuning = plan.tuning;
    if (track) follow_track(plan, rolloff, track, job);
    if (!job.tuning) return;
    const double tuned_hz = job.tuning->offset_hz;
    job.config.tuned_hz = tuned_hz - job.carrier_hz.value_or(0);
    if (!track && std::abs(tuned_hz - wanted.value_or(0)) > job.config.symbol_rate_hz / 2)
        job.warnings.push_back(fmt::format("the nearest carrier of {:.6g} symbols/s lies at {:+.6g} Hz",
                                           job.config.symbol_rate_hz, job.config.tuned_hz));
}

std::uint32_t live_block(const ReceptionJob& job) {
    const double symbol_rate_hz =
        job.config.symbol_rate_hz > 0 ? job.config.symbol_rate_hz : *job.recording.sample_rate_hz / 2;
    const double rate_hz = job.tuning ? 2 * symbol_rate_hz : *job.recording.sample_rate_hz;
    return dvbs2::live_block_samples({rate_hz, symbol_rate_hz, job.config.rolloff, dvbs2::kMaxBlockSamples});
}

std::unique_ptr<io::SampleSource> tuned(std::unique_ptr<io::SampleSource> source, const ReceptionJob& job) {
    if (!job.tuning) return source;
    return std::make_unique<dvbs2::TunedSource>(std::move(source), *job.tuning);
}

/// What is read of a stream before it is received, for a look.
struct Beginning {
    double samples = 0;
    double seconds = 0;
    bool all = false;  ///< however long that takes: what is found in less is another answer

    std::size_t bytes(double sample_rate_hz, dsp::SampleFormat format) const {
        constexpr double kMostBytes = 32 << 20, kLeastBytes = 4096;
        const double size = static_cast<double>(dsp::bytes_per_sample(format));
        return static_cast<std::size_t>(
            std::clamp(std::max(samples, seconds * sample_rate_hz) * size, kLeastBytes, kMostBytes));
    }
};

// Of a whole band.
constexpr Beginning kBandBeginning{.samples = 1 << 22, .seconds = 3, .all = true};

// A carrier whose symbol rate is known shows where it lies in about 16,000 symbols; what nobody knows takes
// longer.
Beginning beginning_for(const ReceptionOptions& options) {
    if (options.carrier) return kBandBeginning;
    if (searched(options).anything()) return {.samples = 1 << 20, .seconds = 1, .all = true};
    const double symbol_rate_hz = told_symbol_rate_hz(options);
    return {.seconds = symbol_rate_hz > 0 ? 17000 / symbol_rate_hz : 0};
}

// Who gives samples that tell nothing of themselves has to tell.
void check_told(const io::LiveKind& kind, const io::LiveRequest& request) {
    if ((kind.tells_format || request.format) && (kind.tells_rate || request.sample_rate_hz)) return;
    throw WrongUsage(
        fmt::format("{}: samples that stream in tell nothing of themselves: give --format and --sample-rate",
                    is_standard_stream(request.place) ? "standard input" : request.place));
}

// A place where samples stream in, with what it is asked for.
io::LiveRequest live_request(const ReceptionOptions& options, const io::LiveKind& kind, ReceptionJob& job) {
    io::LiveRequest request{.place = options.recording,
                            .format = options.format ? options.format : io::raw_format(options.recording),
                            .sample_rate_hz = options.sample_rate_hz};
    check_told(kind, request);
    if (!kind.is_radio) return request;
    const RadioPlan plan = radio_plan(options.radio, {.sample_rate_hz = options.sample_rate_hz,
                                                      .symbol_rate_hz = told_symbol_rate_hz(options),
                                                      .carrier_is_placed = options.offset_hz.has_value()});
    request.radio = plan.settings;
    job.carrier_hz = plan.carrier_hz;
    return request;
}

void tell_other_rate(const std::optional<double>& asked_hz, ReceptionJob& job) {
    const std::optional<double> given_hz = job.stream->sample_rate_hz();
    if (asked_hz && given_hz && *asked_hz != *given_hz)
        job.warnings.push_back(fmt::format("{} gives {} samples per second instead of {}",
                                           job.recording.data_path.string(), *given_hz, *asked_hz));
}

// Samples come as they may; what is read here is kept and comes first. Who wants no more of them has them end
// here.
ReceptionJob prepare_stream(const ReceptionOptions& options, const io::LiveKind& kind,
                            const Beginning& wanted) {
    ReceptionJob job;
    io::Recording& known = job.recording;
    known.data_path = is_standard_stream(options.recording) ? "standard input" : options.recording;
    job.stream = std::make_unique<io::SampleRing>(kind.open(live_request(options, kind, job)),
                                                  io::RingConfig{.drops = kind.is_lossy});
    bool is_there = false;
    {
        const Watch watch([] { return std::string("first samples"); }, options.stop);
        const std::stop_callback end(watch.stop(), [&job] { job.stream->end(); });
        is_there = job.stream->begin();
        known.format = job.stream->format();
        known.sample_rate_hz = job.stream->sample_rate_hz();
        tell_other_rate(options.sample_rate_hz, job);
        known.center_frequency_hz = job.stream->center_frequency_hz();
        if (is_there)
            job.beginning = io::read_beginning(
                *job.stream, wanted.bytes(known.sample_rate_hz.value_or(0), known.format), wanted.all);
        job.interrupted = watch.interrupted();
    }
    if (!is_there && !job.interrupted)
        throw io::IoError(
            fmt::format("{} has hung up: is another program using it?", known.data_path.string()));
    if (job.beginning.empty() && !job.interrupted)
        throw io::IoError(fmt::format("{} is empty: no samples came", known.data_path.string()));
    return job;
}

void take_part(const RecordingPart& part, io::Recording& recording) {
    if (part.count == 0 || part.first > recording.samples || part.count > recording.samples - part.first) {
        throw WrongUsage(fmt::format("{} has {} samples, none of {} on: has it changed meanwhile?",
                                     recording.data_path.string(), recording.samples, part.first));
    }
    recording.data_offset += part.first * dsp::bytes_per_sample(recording.format);
    recording.samples = part.count;
    recording.sha512.clear();  // of the whole
}

ReceptionJob open_job(const ReceptionOptions& options, const Beginning& wanted) {
    const io::LiveKind* const kind = io::live_kind_of(options.recording);
    if (options.radio.any() && !(kind && kind->is_radio)) {
        throw WrongUsage(fmt::format("{} is no radio: {} is for rtl_tcp://host:port", options.recording,
                                     options_text(options.radio).substr(1)));
    }
    if (kind) return prepare_stream(options, *kind, wanted);
    const io::RecordingHints hints{.format = options.format, .sample_rate_hz = options.sample_rate_hz};
    ReceptionJob job;
    job.recording = io::open_recording(options.recording, hints);
    if (options.part) take_part(*options.part, job.recording);
    return job;
}

}  // namespace

std::unique_ptr<io::SampleSource> open_source(ReceptionJob& job) {
    if (!job.stream) return tuned(std::make_unique<io::RecordingReader>(job.recording), job);
    return tuned(std::make_unique<io::StreamReader>(*job.stream, std::exchange(job.beginning, {})), job);
}

std::unique_ptr<io::SampleSource> open_preview(const ReceptionJob& job) {
    if (!job.stream) return tuned(std::make_unique<io::RecordingReader>(job.recording), job);
    return tuned(
        std::make_unique<io::MemoryReader>(job.beginning, job.recording.format, job.recording.sample_rate_hz),
        job);
}

ReceptionJob prepare_band(const ReceptionOptions& options) {
    ReceptionJob job = open_job(options, kBandBeginning);
    if (!job.recording.sample_rate_hz) throw WrongUsage(kNoRate);
    job.warnings = job.recording.warnings;
    return job;
}

ReceptionJob job_of_carrier(const ReceptionOptions& options, const ReceptionJob& band,
                            const dvbs2::SurveyedCarrier& carrier) {
    ReceptionJob job;
    job.recording = band.recording;
    job.config = receiver_config_of(options);
    check_settings(job);
    lay_tuner(take_carrier(carrier, job), false, nullptr, band, job);
    if (!job.tuning)  // about the middle, but there are others
        job.tuning = {.symbol_rate_hz = job.config.symbol_rate_hz, .rolloff = job.config.rolloff};
    if (band.stream) job.config.block_samples = live_block(job);
    return job;
}

std::string reading_options(const ReceptionOptions& options) {
    std::string text;
    if (options.sample_rate_hz) text += fmt::format(" --rate {}", *options.sample_rate_hz);
    if (options.format) text += fmt::format(" --format {}", name_of(*options.format));
    return text + options_text(options.radio);
}

ReceptionJob prepare(const ReceptionOptions& options) {
    ReceptionJob job = open_job(options, beginning_for(options));
    job.config = receiver_config_of(options);
    check_settings(job);
    if (job.interrupted) return job;
    SearchFor search = searched(options);
    WantedPlace place = options.offset_hz ? options.offset_hz : job.carrier_hz;
    if (std::exchange(search.symbol_rate, false)) place = search_carrier(place, job);
    if (options.carrier) {
        const auto chosen = choose_carriers(*options.carrier, [&] { return open_preview(job); });
        place = take_carrier(chosen.front().heard, job);
    }
    lay_tuner(place, search.rolloff, options.doppler, job, job);
    if (search.anything()) search_signal([&] { return open_preview(job); }, search, job.config);
    if (job.stream) job.config.block_samples = live_block(job);
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

#include "tidemill/apps/reception/reception_input.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "tidemill/apps/running/watch.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/retuned_source.hpp"
#include "tidemill/dvbs2/search/carrier_look.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/live_kinds.hpp"
#include "tidemill/io/live/stream_reader.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/io/recordings/sample_format_name.hpp"

namespace tidemill::cli {

namespace {

std::unique_ptr<io::SampleSource> tuned(std::unique_ptr<io::SampleSource> source, const ReceptionJob& job) {
    if (!job.tuning) return source;
    return std::make_unique<dvbs2::TunedSource>(std::move(source), *job.tuning);
}

std::unique_ptr<io::SampleSource> untuned(const ReceptionJob& job, const std::optional<RecordingPart>& part) {
    const std::size_t size = dsp::bytes_per_sample(job.recording.format);
    if (job.stream) {
        std::span<const std::byte> bytes = job.beginning;
        if (part) bytes = bytes.subspan(part->first * size, part->count * size);
        return std::make_unique<io::MemoryReader>(bytes, job.recording.format, job.recording.sample_rate_hz);
    }
    io::Recording recording = job.recording;
    if (part) io::keep_part(recording, part->first, part->count);
    return std::make_unique<io::RecordingReader>(std::move(recording));
}

/// Samples that end where nobody wants more of them.
class GivenUpSource final : public io::SampleSource {
  public:
    GivenUpSource(std::unique_ptr<io::SampleSource> from, std::function<bool()> given_up)
        : from_(std::move(from)), given_up_(std::move(given_up)) {}

    dsp::SampleFormat format() const override { return from_->format(); }
    std::optional<double> sample_rate_hz() const override { return from_->sample_rate_hz(); }
    std::size_t read(std::span<std::byte> to) override { return given_up_() ? 0 : from_->read(to); }

  private:
    std::unique_ptr<io::SampleSource> from_;
    std::function<bool()> given_up_;
};

/// Samples that are read of a stream before it is received, for a look.
struct Beginning {
    double samples = 0;
    double seconds = 0;
    bool all = false;          ///< however long that takes: what is found in less is another answer
    double first_seconds = 0;  ///< are enough where they show the carrier clearly; 0: they are not

    std::size_t bytes(double sample_rate_hz, dsp::SampleFormat format) const {
        constexpr double kMostBytes = 32 << 20, kLeastBytes = 4096;
        const double size = static_cast<double>(dsp::bytes_per_sample(format));
        return static_cast<std::size_t>(
            std::clamp(std::max(samples, seconds * sample_rate_hz) * size, kLeastBytes, kMostBytes));
    }
};

// Beginning of a whole band.
constexpr Beginning kBandBeginning{.samples = 1 << 22, .seconds = 3, .all = true};

// A carrier whose symbol rate is known shows where it lies in some thousand symbols; what nobody knows takes
// longer.
Beginning beginning_for(const ReceptionOptions& options) {
    if (options.carrier) return kBandBeginning;
    if (searched(options).anything()) return {.samples = 1 << 20, .seconds = 1, .all = true};
    const double symbol_rate_hz = told_symbol_rate_hz(options);
    if (symbol_rate_hz == 0) return {};
    return {.seconds = dvbs2::kLookedAtSymbols / symbol_rate_hz,
            .first_seconds = dvbs2::kFirstLookSymbols / symbol_rate_hz};
}

// Whether what was read shows the carrier as well as more of it would. A failure to receive is reported
// later.
bool shows_carrier(const ReceptionOptions& options, const ReceptionJob& job) {
    const dvbs2::LookConfig look{.symbol_rate_hz = told_symbol_rate_hz(options),
                                 .rolloff = options.rolloff.value.value_or(dvbs2::ReceiverConfig{}.rolloff),
                                 .near_hz = options.offset_hz.value_or(job.carrier_hz.value_or(0))};
    try {
        dvbs2::check_tuning(job.recording.sample_rate_hz.value_or(0),
                            {.symbol_rate_hz = look.symbol_rate_hz, .rolloff = look.rolloff});
        const auto seen = dvbs2::look_for_carrier(*open_preview(job), look);
        return seen && seen->is_clear();
    } catch (const dvbs2::Dvbs2Error&) {
        return true;
    }
}

/// How far the first samples are, for the waiting user.
class FirstSamples {
  public:
    void begin(double wanted_s) { wanted_s_ = wanted_s; }
    void came(double so_far_s) { so_far_s_ = so_far_s; }

    // A log says each text once.
    std::string line() const {
        if (wanted_s_ == 0) return "waiting for samples";
        if (!Watch::draws())
            return fmt::format("looking at the first {} of samples", io::seconds_text(wanted_s_));
        return fmt::format("first samples: {} of {}", io::seconds_text(so_far_s_),
                           io::seconds_text(wanted_s_));
    }

  private:
    std::atomic<double> wanted_s_{0};  // 0: none are there yet
    std::atomic<double> so_far_s_{0};
};

void read_beginning(const ReceptionOptions& options, const Beginning& wanted, ReceptionJob& job,
                    FirstSamples& told) {
    const double rate_hz = job.recording.sample_rate_hz.value_or(0);
    const std::size_t most = wanted.bytes(rate_hz, job.recording.format);
    const Beginning first{.seconds = wanted.first_seconds};
    const bool may_do = wanted.first_seconds > 0;
    const double byte_s =
        rate_hz > 0 ? 1 / (rate_hz * static_cast<double>(dsp::bytes_per_sample(job.recording.format))) : 0;
    std::size_t bytes = 0;
    const auto came = [&](std::size_t more) {
        told.came(static_cast<double>(bytes += more) * byte_s);
        if (options.came) options.came();
    };
    told.begin(static_cast<double>(most) * byte_s);
    job.beginning = io::read_beginning(
        *job.stream, may_do ? first.bytes(rate_hz, job.recording.format) : most, wanted.all, came);
    if (!may_do || job.beginning.size() >= most || shows_carrier(options, job)) return;
    const auto rest = io::read_beginning(*job.stream, most - job.beginning.size(), wanted.all, came);
    job.beginning.insert(job.beginning.end(), rest.begin(), rest.end());
}

// A source of samples without a header needs options for what the header lacks.
void check_told(const io::LiveKind& kind, const io::LiveRequest& request) {
    if ((kind.tells_format || request.format) && (kind.tells_rate || request.sample_rate_hz)) return;
    throw WrongUsage(fmt::format("{}: streamed samples have no header: give --format and --sample-rate",
                                 is_standard_stream(request.place) ? "standard input" : request.place));
}

void check_modules(const io::LiveKind& kind, const io::LiveRequest& request) {
    if (kind.has_modules || (request.radio.antenna.empty() && request.radio.settings.empty())) return;
    throw WrongUsage(fmt::format("{}: --antenna and --setting are for driver=NAME", request.place));
}

// Other receivers speak the protocol, too, so that the rate may be right.
void warn_of_dongle(double rate_hz, ReceptionJob& job) {
    const bool gives = (rate_hz > 225e3 && rate_hz <= 300e3) || (rate_hz > 900e3 && rate_hz <= 3.2e6);
    if (gives) return;
    job.warnings.push_back(
        fmt::format("--rate {}: a radio of type RTL2832 gives 225001 to 300000 or 900001 to 3200000 samples "
                    "per second",
                    rate_hz));
}

// A place where samples stream in, with what it is asked for.
io::LiveRequest live_request(const ReceptionOptions& options, const io::LiveKind& kind, ReceptionJob& job) {
    io::LiveRequest request{.place = options.recording,
                            .format = options.format ? options.format : io::raw_format(options.recording),
                            .sample_rate_hz = options.sample_rate_hz,
                            .reopens = options.reopens};
    check_told(kind, request);
    if (!kind.is_radio) return request;
    const RadioPlan plan = radio_plan(options.radio, {.sample_rate_hz = options.sample_rate_hz,
                                                      .symbol_rate_hz = told_symbol_rate_hz(options),
                                                      .carrier_is_placed = options.offset_hz.has_value()});
    request.radio = plan.settings;
    check_modules(kind, request);
    if (io::is_rtl_tcp(request.place)) warn_of_dongle(request.radio.sample_rate_hz, job);
    job.carrier_hz = plan.carrier_hz;
    return request;
}

void tell_other_rate(const std::optional<double>& asked_hz, ReceptionJob& job) {
    const std::optional<double> given_hz = job.stream->sample_rate_hz();
    if (asked_hz && given_hz && *asked_hz != *given_hz)
        job.warnings.push_back(fmt::format("{} gives {} samples per second instead of {}",
                                           job.recording.data_path.string(), *given_hz, *asked_hz));
}

// Samples come as they may; what is read here is kept and comes first. An interrupt ends them here.
ReceptionJob prepare_stream(const ReceptionOptions& options, const io::LiveKind& kind,
                            const Beginning& wanted) {
    ReceptionJob job;
    io::Recording& known = job.recording;
    known.data_path = is_standard_stream(options.recording) ? "standard input" : options.recording;
    job.stream = std::make_unique<io::SampleRing>(kind.open(live_request(options, kind, job)),
                                                  io::RingConfig{.drops = kind.is_lossy});
    bool is_there = false;
    {
        FirstSamples first;
        const Watch watch([&first] { return first.line(); }, options.stop);
        const std::stop_callback end(watch.stop(), [&job] { job.stream->end(); });
        is_there = job.stream->begin();
        known.format = job.stream->format();
        known.sample_rate_hz = job.stream->sample_rate_hz();
        tell_other_rate(options.sample_rate_hz, job);
        known.center_frequency_hz = options.radio.frequency_hz
                                        ? *options.radio.frequency_hz - job.carrier_hz.value_or(0)
                                        : job.stream->center_frequency_hz();
        if (is_there) read_beginning(options, wanted, job, first);
        job.interrupted = watch.interrupted();
    }
    const std::string remarks = job.stream->remarks().empty() ? "" : "; " + job.stream->remarks();
    if (job.interrupted && !known.sample_rate_hz)
        throw JobFailed("interrupted before samples came" + remarks);
    if (!is_there && !job.interrupted)
        throw io::IoError(
            fmt::format("{} has hung up: is another program using it?{}", known.data_path.string(), remarks));
    if (job.beginning.empty() && !job.interrupted)
        throw io::IoError(fmt::format("{} is empty: no samples came{}", known.data_path.string(), remarks));
    return job;
}

void take_checked(const RecordingPart& part, io::Recording& recording) {
    if (part.count == 0 || part.first > recording.samples || part.count > recording.samples - part.first) {
        throw WrongUsage(fmt::format("{} has {} samples, none of {} on: has it changed meanwhile?",
                                     recording.data_path.string(), recording.samples, part.first));
    }
    io::keep_part(recording, part.first, part.count);
}

ReceptionJob opened(ReceptionJob job, const ReceptionOptions& options) {
    job.given_up = options.given_up;
    if (options.opened && !job.interrupted) options.opened();
    return job;
}

}  // namespace

ReceptionJob open_job(const ReceptionOptions& options, bool whole_band) {
    const Beginning wanted = whole_band ? kBandBeginning : beginning_for(options);
    const io::LiveKind* const kind = io::live_kind_of(options.recording);
    if (options.radio.any() && !(kind && kind->is_radio)) {
        throw WrongUsage(fmt::format("{} is no radio: {} is for rtl_tcp://host:port and driver=NAME",
                                     options.recording, options_text(options.radio).substr(1)));
    }
    if (kind) return opened(prepare_stream(options, *kind, wanted), options);
    const io::RecordingHints hints{.format = options.format, .sample_rate_hz = options.sample_rate_hz};
    ReceptionJob job;
    job.recording = io::open_recording(options.recording, hints);
    io::skip_bytes(job.recording, options.skipped_bytes);
    if (options.part) take_checked(*options.part, job.recording);
    return opened(std::move(job), options);
}

std::unique_ptr<io::SampleSource> open_source(ReceptionJob& job, const WrapSource& wrap, bool follows) {
    std::unique_ptr<io::SampleSource> source;
    if (job.stream)
        source = std::make_unique<io::StreamReader>(*job.stream, std::exchange(job.beginning, {}));
    else
        source = std::make_unique<io::RecordingReader>(job.recording);
    if (wrap) source = wrap(std::move(source));
    const bool moves_as_foretold = job.tuning && job.tuning->doppler;
    if (!follows || !source->sample_rate_hz() || moves_as_foretold) return tuned(std::move(source), job);
    dvbs2::ReceiverConfig config = job.config;
    if (config.symbol_rate_hz == 0) config.symbol_rate_hz = *source->sample_rate_hz() / 2;
    const auto open_at = [recording = job.recording](std::uint64_t first) {
        auto reader = std::make_unique<io::RecordingReader>(recording);
        reader->seek(first);
        return reader;
    };
    return std::make_unique<dvbs2::RetunedSource>(
        std::move(source), job.tuning, config,
        job.stream ? dvbs2::RetunedSource::OpenAt() : dvbs2::RetunedSource::OpenAt(open_at));
}

std::unique_ptr<io::SampleSource> open_preview(const ReceptionJob& job,
                                               const std::optional<RecordingPart>& part) {
    auto source = untuned(job, part);
    if (job.given_up) source = std::make_unique<GivenUpSource>(std::move(source), job.given_up);
    return tuned(std::move(source), job);
}

std::unique_ptr<io::SampleSource> open_preview(const ReceptionJob& job) {
    return open_preview(job, job.looked_at);
}

std::vector<RecordingPart> steady_parts(const ReceptionJob& job) {
    const std::size_t size = dsp::bytes_per_sample(job.recording.format);
    std::optional<io::RecordingReader> reader;
    if (!job.stream) reader.emplace(job.recording);
    std::vector<std::byte> bytes;
    const auto read = [&](std::uint64_t first, std::span<dsp::Iq> to) -> std::size_t {
        if (job.given_up && job.given_up()) return 0;
        if (!reader) {
            dsp::convert_samples(job.recording.format,
                                 std::span(job.beginning).subspan(first * size, to.size() * size), to);
            return to.size();
        }
        bytes.resize(to.size() * size);
        reader->seek(first);
        const std::size_t count = reader->read(bytes) / size;
        dsp::convert_samples(job.recording.format, std::span(bytes).first(count * size), to.first(count));
        return count;
    };
    return dvbs2::steady_stretches(job.stream ? job.beginning.size() / size : job.recording.samples, read);
}

std::string reading_options(const ReceptionOptions& options) {
    std::string text;
    if (options.sample_rate_hz) text += fmt::format(" --rate {}", *options.sample_rate_hz);
    if (options.format) text += fmt::format(" --format {}", name_of(*options.format));
    return text + options_text(options.radio);
}

}  // namespace tidemill::cli

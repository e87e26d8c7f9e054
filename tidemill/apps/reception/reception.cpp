#include "tidemill/apps/reception/reception.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "tidemill/apps/reception/level_fault.hpp"
#include "tidemill/apps/reception/more_samples.hpp"
#include "tidemill/apps/reception/reception_input.hpp"
#include "tidemill/apps/reception/scan_text.hpp"
#include "tidemill/apps/reception/signal_search.hpp"
#include "tidemill/apps/running/watch.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/error.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/front/front_block.hpp"
#include "tidemill/dvbs2/receiver/band_survey.hpp"
#include "tidemill/dvbs2/search/tuning_plan.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/io/files/hertz_text.hpp"
#include "tidemill/machine/side_by_side.hpp"

namespace tidemill::cli {

SearchFor searched(const ReceptionOptions& options) {
    return {.symbol_rate = options.symbol_rate_hz && options.symbol_rate_hz->is_auto(),
            .rolloff = options.rolloff.is_auto(),
            .gold_code = options.gold_code.is_auto()};
}

double told_symbol_rate_hz(const ReceptionOptions& options) {
    return options.symbol_rate_hz.value_or(OrAuto<double>{0}).value.value_or(0);
}

namespace {

constexpr const char* kNoRate = "the recording has no sample rate: give --sample-rate";

// Widest of those that a search may find.
constexpr double kWidestRolloff = 0.35;

// A value that is searched has its usual value until it is found.
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

// Where the carrier that is to be received lies, when only the user or a search knows.
using WantedPlace = std::optional<double>;

// Listens to the carriers of the band: to all, or, where a place is named and each has its shape, from the
// nearest on until one will do. The nearest first.
std::vector<dvbs2::SurveyedCarrier> receivable(const WantedPlace& wanted, const ReceptionJob& job) {
    const auto open = [&] { return open_preview(job); };
    dvbs2::FoundBand found = dvbs2::find_carriers(*open());
    const auto from_wanted = [&](const dvbs2::FoundCarrier& c) {
        return std::abs(c.offset_hz - wanted.value_or(0));
    };
    std::vector<dvbs2::SurveyedCarrier> heard;
    if (wanted && found.stretches.empty()) {
        std::ranges::sort(found.carriers, {}, from_wanted);
        for (const dvbs2::FoundCarrier& one : found.carriers) {
            heard.push_back(dvbs2::survey(open, one, dvbs2::SurveyDepth::frames));
            if (is_receivable(heard.back())) break;
        }
    } else {
        heard = dvbs2::survey_band(open, found, dvbs2::SurveyDepth::frames, cores_to_use(), [](auto) {});
    }
    std::erase_if(heard, [](const auto& one) { return !is_receivable(one); });
    std::ranges::sort(heard, {}, [&](const auto& one) { return from_wanted(one.seen); });
    if (wanted && heard.size() > 1) heard.erase(heard.begin() + 1, heard.end());
    return heard;
}

/// Only the user knows which of them is wanted.
class SeveralCarriers : public JobFailed {
  public:
    using JobFailed::JobFailed;
};

// One carrier of DVB-S2 is taken wherever it lies. Where the spectrum shows none, the whole band may be one.
WantedPlace search_carrier(const WantedPlace& wanted, ReceptionJob& job) {
    const auto carriers = receivable(wanted, job);
    if (carriers.empty()) {
        search_signal([&] { return open_preview(job); }, {.symbol_rate = true}, job.config);
        return wanted;
    }
    if (carriers.size() > 1) {
        std::string list;
        for (const auto& carrier : carriers) list += (list.empty() ? "" : ", or ") + carrier_options(carrier);
        throw SeveralCarriers(fmt::format(
            "{} carriers are there (tidemill dvbs2 scan shows more); say which: {}", carriers.size(), list));
    }
    job.config.symbol_rate_hz = carriers.front().symbol_rate_hz;
    return carriers.front().seen.offset_hz;
}

// Puts the oscillator where the carrier would lie if its transmitter stood still, by where it was when it was
// seen. A carrier that moves needs a tuner wherever it lies.
void follow_track(const dvbs2::TuningPlan& plan, double rolloff,
                  const std::shared_ptr<const dvbs2::DopplerTrack>& track, ReceptionJob& job) {
    const double first = job.looked_at ? static_cast<double>(job.looked_at->first) : 0;
    const double moved_hz = track->hz_at(first / *job.recording.sample_rate_hz);
    if (!job.tuning)
        job.tuning = {.symbol_rate_hz = job.config.symbol_rate_hz,
                      .rolloff = rolloff,
                      .offset_hz = plan.seen ? plan.seen->offset_hz : moved_hz};
    job.tuning->offset_hz -= moved_hz;
    job.tuning->doppler = track;
    as_usage([&] { dvbs2::check_tuning(*job.recording.sample_rate_hz, *job.tuning); });
}

// Takes a carrier from a scan, as if the user had given it. Returns where it lies.
double take_carrier(const dvbs2::SurveyedCarrier& carrier, ReceptionJob& job) {
    const CarrierCall call = call_of(carrier);
    job.config.symbol_rate_hz = call.symbol_rate_hz;
    if (job.config.rolloff == dvbs2::ReceiverConfig{}.rolloff && call.rolloff > 0)
        job.config.rolloff = call.rolloff;
    return call.offset_hz;
}

// A recording of which nothing is said has two samples a symbol, and its carrier about the middle. Returns
// whether the carrier was seen, or is not looked for.
bool lay_tuner(const WantedPlace& wanted, bool any_rolloff,
               const std::shared_ptr<const dvbs2::DopplerTrack>& track, const ReceptionJob& band,
               ReceptionJob& job) {
    if (job.config.symbol_rate_hz == 0) {
        if (track) throw WrongUsage("--doppler: give --symbol-rate, for the width of the carrier, or auto");
        if (wanted) throw WrongUsage("--offset: give --symbol-rate, for the width of the carrier, or auto");
        return true;
    }
    const double rolloff = any_rolloff ? kWidestRolloff : job.config.rolloff;
    const dvbs2::TuningPlan plan = as_usage([&] {
        const auto source = open_preview(band);
        return dvbs2::plan_tuning(*source, {job.config.symbol_rate_hz, rolloff, wanted});
    });
    job.tuning = plan.tuning;
    if (track) follow_track(plan, rolloff, track, job);
    if (!job.tuning) return plan.seen.has_value();
    const double tuned_hz = job.tuning->offset_hz;
    job.config.tuned_hz = tuned_hz - job.carrier_hz.value_or(0);
    job.config.taken_rate_hz = *job.recording.sample_rate_hz;
    if (!track && std::abs(tuned_hz - wanted.value_or(0)) > job.config.symbol_rate_hz / 2)
        job.warnings.push_back(fmt::format("the nearest carrier of {} symbols/s lies at {} Hz",
                                           io::hertz_text(job.config.symbol_rate_hz),
                                           io::signed_hertz_text(job.config.tuned_hz)));
    return plan.seen.has_value();
}

// The symbol rate in the metadata, where the user gives none. (Half the sample rate is taken without it.)
void take_recorded_rate(const ReceptionOptions& options, ReceptionJob& job) {
    const auto rate_hz = job.recording.symbol_rate_hz;
    if (!rate_hz || options.symbol_rate_hz || options.carrier || !job.recording.sample_rate_hz) return;
    if (std::abs(*rate_hz / *job.recording.sample_rate_hz - 0.5) > 0.005)
        job.config.symbol_rate_hz = *rate_hz;
}

std::uint32_t live_block(const ReceptionJob& job) {
    const double symbol_rate_hz =
        job.config.symbol_rate_hz > 0 ? job.config.symbol_rate_hz : *job.recording.sample_rate_hz / 2;
    const double given_hz = *job.recording.sample_rate_hz;
    const double rate_hz = job.tuning ? dvbs2::tuned_rate_hz(given_hz, symbol_rate_hz) : given_hz;
    return dvbs2::live_block_samples({rate_hz, symbol_rate_hz, job.config.rolloff, dvbs2::kMaxBlockSamples});
}

// Returns whether the given one was wrong.
bool correct_symbol_rate(ReceptionJob& job) {
    const auto rate_hz = corrected_symbol_rate([&] { return open_preview(job); }, job.config);
    if (!rate_hz) return false;
    const double told_hz = std::exchange(job.config.symbol_rate_hz, *rate_hz);
    job.tuning.reset();
    job.warnings.push_back(
        fmt::format("--symbol-rate {}: the carrier has {:.1f} symbols/s ({:+.3f} %), which are received",
                    io::hertz_text(told_hz), *rate_hz, 100 * (*rate_hz / told_hz - 1)));
    return true;
}

// Returns whether it was seen or heard.
bool find_signal(const ReceptionOptions& options, WantedPlace place, ReceptionJob& job) {
    SearchFor search = searched(options);
    if (std::exchange(search.symbol_rate, false)) place = search_carrier(place, job);
    bool is_sure = lay_tuner(place, search.rolloff, options.doppler, job, job);
    if (told_symbol_rate_hz(options) > 0 && correct_symbol_rate(job)) {
        lay_tuner(place, search.rolloff, options.doppler, job, job);
        is_sure = true;
    }
    if (!search.anything()) return is_sure;
    search_signal([&] { return open_preview(job); }, search, job.config);
    return true;
}

/// Result of looking for the signal: the fields of a job that it fills in.
struct Looked {
    dvbs2::ReceiverConfig config;
    std::optional<dvbs2::Tuning> tuning;
    std::vector<std::string> warnings;

    static Looked of(const ReceptionJob& job) { return {job.config, job.tuning, job.warnings}; }
    void put_into(ReceptionJob& job) const {
        job.config = config;
        job.tuning = tuning;
        job.warnings = warnings;
    }
};

// Looks from the first sample on, then in each part between two changes of the band until the signal is sure.
void find_in_parts(const ReceptionOptions& options, const WantedPlace& place, ReceptionJob& job) {
    const Looked before = Looked::of(job);
    std::optional<Looked> unsure;
    std::exception_ptr failure;  // of the first part, where there are parts
    int failures = 0;
    const auto finds_in = [&](const std::optional<RecordingPart>& part) {
        before.put_into(job);
        job.looked_at = part;
        try {
            if (find_signal(options, place, job)) return true;
            if (!unsure) unsure = Looked::of(job);
        } catch (const NoSignalFound&) {
            if (failures++ < 2) failure = std::current_exception();
        } catch (const SeveralCarriers&) {
            // In parts, one may come after the other.
            if (part) throw;
            failure = std::current_exception();
            failures = 2;
        }
        return gives_up(job);
    };
    if (finds_in({})) return;
    std::vector<RecordingPart> parts = steady_parts(job);
    // The earliest: what comes after it is found while it is received. The quietest part is noise.
    std::sort(parts.begin(), std::prev(parts.end()),
              [](const RecordingPart& a, const RecordingPart& b) { return a.first < b.first; });
    if (parts.size() > 1 && std::ranges::any_of(parts, finds_in)) return;
    job.looked_at.reset();
    if (!unsure) std::rethrow_exception(failure);
    unsure->put_into(job);
}

// The wanted signal may begin later in a live input.
template <class Find>
auto find_or_wait(const ReceptionOptions& options, ReceptionJob& job, Find find) {
    const Looked before = Looked::of(job);
    while (true) {
        try {
            const TakenMeanwhile more(job);
            return find();
        } catch (const NoSignalFound&) {
            before.put_into(job);
            if (!wait_for_more(options, job)) throw;
        }
    }
}

void find_wanted(const ReceptionOptions& options, ReceptionJob& job) {
    WantedPlace place = options.offset_hz ? options.offset_hz : job.carrier_hz;
    if (options.carrier) place = take_carrier(choose_carriers(*options.carrier, job).front().heard, job);
    find_in_parts(options, place, job);
}

// Throws JobFailed where the level is why nothing was found.
void check_level(const ReceptionJob& job) {
    if (job.stream) return;
    if (const std::string fault = level_fault(job.recording); !fault.empty())
        throw JobFailed(fmt::format("no signal found in {}: {}", job.recording.data_path.string(), fault));
}

// Ended before its signal was found: what is known of that is worth nothing, and may be no receiver's.
ReceptionJob without_signal(ReceptionJob job) {
    job.interrupted = true;
    job.tuning.reset();
    job.config.symbol_rate_hz = 0;
    return job;
}

}  // namespace

std::vector<NumberedCarrier> choose_all(const ReceptionOptions& options, ReceptionJob& band) {
    return find_or_wait(options, band, [&] {
        const Watch watch([] { return std::string("looking for carriers"); }, options.stop);
        return choose_carriers({}, band);
    });
}

std::optional<double> on_air_hz(const ReceptionJob& job, double offset_hz) {
    if (!job.recording.center_frequency_hz) return {};
    return *job.recording.center_frequency_hz + job.carrier_hz.value_or(0) + offset_hz;
}

void skip_behind_gap(ReceptionJob& job) {
    if (!job.stream) return;
    const std::size_t size = dsp::bytes_per_sample(job.recording.format);
    if (job.stream->skip_behind_gap(job.beginning.size() / size)) job.beginning.clear();
}

bool gives_up(const ReceptionJob& job) {
    return job.given_up && job.given_up();
}

ReceptionJob prepare_band(const ReceptionOptions& options) {
    ReceptionJob job = open_job(options, true);
    if (!job.recording.sample_rate_hz) throw WrongUsage(kNoRate);
    job.warnings = job.recording.warnings;
    return job;
}

ReceptionJob job_of_carrier(const ReceptionOptions& options, const ReceptionJob& band,
                            const dvbs2::SurveyedCarrier& carrier) {
    ReceptionJob job;
    job.recording = band.recording;
    job.carrier_hz = band.carrier_hz;
    job.config = receiver_config_of(options);
    check_settings(job);
    lay_tuner(take_carrier(carrier, job), false, options.doppler, band, job);
    if (!job.tuning)  // about the middle, but there are others
        job.tuning = {.symbol_rate_hz = job.config.symbol_rate_hz, .rolloff = job.config.rolloff};
    if (band.stream) job.config.block_samples = live_block(job);
    return job;
}

ReceptionJob prepare(const ReceptionOptions& options) {
    ReceptionJob job = open_job(options);
    job.config = receiver_config_of(options);
    take_recorded_rate(options, job);
    check_settings(job);
    if (job.interrupted) return without_signal(std::move(job));
    try {
        find_or_wait(options, job, [&] { find_wanted(options, job); });
    } catch (const Error&) {
        if (!gives_up(job)) {
            check_level(job);
            throw;
        }
    }
    if (gives_up(job)) return without_signal(std::move(job));
    if (job.stream) job.config.block_samples = live_block(job);
    job.warnings.insert(job.warnings.begin(), job.recording.warnings.begin(), job.recording.warnings.end());
    return job;
}

}  // namespace tidemill::cli

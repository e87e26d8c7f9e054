#include "tidemill/apps/reception/rx_job.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "tidemill/apps/reception/band_hearing.hpp"
#include "tidemill/apps/reception/rx_account.hpp"
#include "tidemill/apps/reception/rx_reception.hpp"
#include "tidemill/apps/reception/rx_schedule.hpp"
#include "tidemill/apps/reception/scan_text.hpp"
#include "tidemill/apps/reception/signal_search.hpp"
#include "tidemill/apps/running/watch.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/error.hpp"
#include "tidemill/io/files/hertz_text.hpp"
#include "tidemill/io/recordings/digest_check.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/options/kinds_option.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/runtime/stream/checkpoint.hpp"

namespace tidemill::cli {

namespace {

void check_digest(RxOutcome& outcome) {
    if (outcome.interrupted || outcome.failure || outcome.job.stream) return;
    const std::string disagreement = io::check_digest(outcome.job.recording);
    if (!disagreement.empty()) outcome.job.warnings.push_back(disagreement);
}

// A radio's samples mostly come more slowly than one core receives them: with automatic, a live reception
// begins in order whatever another one has chosen, and stays so until its samples wait.
RunConfig how_it_runs(const RxRunOptions& options, bool live) {
    RunConfig how = options.running.how;
    if (live) how.choices.clear();  // what is best for a recording is not, where nothing hurries
    const bool has_device = !options.device.device.empty();
    if (has_device && how.executor == ExecutorKind::automatic) how.executor = ExecutorKind::pipeline;
    return how;
}

// Where the user wants no more while the samples are profiled, what is left is ended in order.
GraphRun scheduled_run(const RxRunOptions& options, const Topology& topology, RxCarriers& carriers) {
    const ReceptionJob& job = carriers.whole().job;
    GraphRun run(how_it_runs(options, job.stream != nullptr), topology);
    try {
        find_schedule(run, topology, carriers);
    } catch (const Error&) {
        if (!gives_up(job)) throw;
    }
    if (!gives_up(job)) return run;
    return GraphRun({.executor = ExecutorKind::sequence}, topology);
}

// Keeps the first failure for later: what was received until then is finished and accounted for. Nothing was,
// where a checkpoint is refused.
template <class Act>
void attempt(Act act, std::exception_ptr& failure) {
    try {
        act();
    } catch (const CheckpointError&) {
        throw;
    } catch (const Error&) {
        if (!failure) failure = std::current_exception();
    }
}

// Gold code of frames that were found and not decoded: whether they are scrambled by another.
std::string other_gold_code(ReceptionJob band, const dvbs2::SurveyedCarrier& carrier) {
    const CarrierCall call = call_of(carrier);
    band.tuning = {
        .symbol_rate_hz = call.symbol_rate_hz, .rolloff = call.rolloff, .offset_hz = call.offset_hz};
    dvbs2::ReceiverConfig config{.symbol_rate_hz = call.symbol_rate_hz, .rolloff = call.rolloff};
    try {
        search_signal([&] { return open_preview(band); }, {.gold_code = true}, config);
    } catch (const NoSignalFound&) {
        return {};
    }
    return fmt::format("DVB-S2 with gold code {0}: give --gold {0}", config.gold_code);
}

std::string told_of(ReceptionJob band, const dvbs2::SurveyedCarrier& carrier) {
    if (carrier.kind == dvbs2::CarrierKind::dvbs2) return "DVB-S2: give " + carrier_options(carrier);
    const bool may_be_scrambled = carrier.kind == dvbs2::CarrierKind::dvbs2_weak;
    const std::string code = may_be_scrambled ? other_gold_code(std::move(band), carrier) : "";
    return code.empty() ? reason_text(carrier) : code;
}

// Nearest carrier of a scan to the frequency where nothing was received; empty where it knows none, and of a
// live input.
std::string heard_instead(const ReceptionJob& received) {
    if (received.stream || !received.recording.sample_rate_hz) return {};
    ReceptionJob band;
    band.recording = received.recording;
    band.given_up = received.given_up;
    auto carriers = hear_band(band, dvbs2::SurveyDepth::frames).carriers;
    std::erase_if(carriers, [&](const auto& one) {
        return is_noise_of_radio(one, *received.recording.sample_rate_hz);
    });
    if (carriers.empty()) return {};
    const double place_hz = received.config.tuned_hz;
    const dvbs2::SurveyedCarrier& nearest = *std::ranges::min_element(
        carriers, {}, [&](const auto& one) { return std::abs(one.offset_hz - place_hz); });
    std::string text = told_of(std::move(band), nearest);
    if (nearest.seen.covers(place_hz)) return text;
    return fmt::format("at {} Hz {}", io::signed_hertz_text(std::round(nearest.offset_hz)), text);
}

void receive_by(GraphRun& run, RxReception& reception, RxCarriers& carriers, RxGuard& guard, RxPage& page) {
    std::exception_ptr failure;
    carriers.whole().start_s = guard.elapsed_s();
    attempt([&] { reception.go(run, guard, page); }, failure);
    // A failure before anything was read leaves its outputs as they were.
    if (failure && !reception.has_read()) std::rethrow_exception(failure);
    attempt([&] { reception.close(run, page); }, failure);
    collect_results(run, reception, carriers);
    carriers.whole().failure = failure;
}

void run(const RxOptions& options, RxCarriers& carriers, RxGuard& guard, RxPage& page) {
    const Topology topology = topology_by(options.run.running.kinds);
    GraphRun run = scheduled_run(options.run, topology, carriers);
    // A track of the carrier's drift counts from the first sample.
    if (!options.reception.doppler) skip_behind_gap(carriers.whole().job);
    RxReception reception(options.run, options.beside, carriers);
    receive_by(run, reception, carriers, guard, page);
    RxOutcome& outcome = carriers.whole();
    if (options.report.check_digest) check_digest(outcome);
    if (!carriers.is_band() && !outcome.failure && !outcome.interrupted && !outcome.received())
        outcome.instead = heard_instead(outcome.job);
}

// Options that serve one carrier only are wrong usage with --carrier all.
void check_for_several(const RxOptions& options) {
    const auto refuse = [](const char* what, const char* why) {
        throw WrongUsage(fmt::format("{} is for one carrier: {}; name it with --carrier N", what, why));
    };
    if (options.beside.iq.any())
        refuse("--iq-out", "a band's carriers have no samples of their own to be kept");
    if (!options.run.device.device.empty())
        refuse("--device", "what a device takes is known of one receiver");
    if (!options.run.checkpoint.file.empty()) refuse("--checkpoint", "a band's tuners cannot be kept");
    if (options.reception.rolloff.is_auto() || options.reception.gold_code.is_auto())
        refuse("auto", "the roll-off of all is taken from their frames; give --gold a number");
    for (const std::string& place : options.outputs.ip.places)
        if (place.starts_with("tun:")) refuse(place.c_str(), "there is one interface of that name");
    outputs_of(options.outputs, 1);  // before anything is searched
}

// The user and the guard follow how its first samples come.
void follow(ReceptionOptions& reception, const Listening& user, RxGuard& guard) {
    reception.reopens = true;
    reception.given_up = [&user] { return user.wants_end(); };
    reception.came = [&guard] { guard.samples_came(); };
    reception.opened = [&guard] { guard.samples_are_there(); };
    reception.awaited = [&guard] { guard.samples_are_awaited(); };
}

}  // namespace

CarriersOutcome receive_carriers(RxOptions options) {
    if (options.reception.of_all_carriers()) check_for_several(options);
    const RunningOptions& running = options.run.running;
    const Listening user(running.stop);
    // Before there are threads, and before anything from outside is read.
    std::vector<io::TunDevice> interfaces = open_interfaces(options.outputs.ip);
    RxGuard guard(options.exit_on, !running.stop.stop_possible(), running.how.seconds);
    RxPage page(options.beside.page,
                options.reception.of_all_carriers() ? dvbs2::BandReceiver::kMostCarriers : 1);
    if (!page.url().empty()) tell("look       {}\n", page.url());
    follow(options.reception, user, guard);
    const auto device = devices().open(options.run.device, running.how.scheduling.model.memory);
    RxCarriers carriers(options.reception, options.outputs, std::move(interfaces));
    carriers.whole().ldpc_device = device;
    if (!carriers.empty()) run(options, carriers, guard, page);
    for (std::size_t k = 0; k < carriers.size(); ++k) {
        carriers[k].outcome.lasted_s = guard.elapsed_s();
        carriers[k].outcome.ended_as_asked = guard.has_ended_it();
    }
    carriers.whole().ended_by = guard.ended_by();
    return carriers.take();
}

RxOutcome receive(const RxOptions& options) {
    return std::move(receive_carriers(options).carriers.front().outcome);
}

}  // namespace tidemill::cli

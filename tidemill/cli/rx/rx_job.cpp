#include "tidemill/cli/rx/rx_job.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "tidemill/cli/dvbs2/band_hearing.hpp"
#include "tidemill/cli/dvbs2/scan_text.hpp"
#include "tidemill/cli/dvbs2/signal_search.hpp"
#include "tidemill/cli/kinds_option.hpp"
#include "tidemill/cli/rx/rx_account.hpp"
#include "tidemill/cli/rx/rx_reception.hpp"
#include "tidemill/cli/rx/rx_schedule.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/cli/watch.hpp"
#include "tidemill/error.hpp"
#include "tidemill/io/digest_check.hpp"
#include "tidemill/io/hertz_text.hpp"
#include "tidemill/io/recording_reader.hpp"
#include "tidemill/run/checkpoint/checkpoint.hpp"

namespace tidemill::cli {

namespace {

void check_digest(RxOutcome& outcome) {
    if (outcome.interrupted || outcome.failure || outcome.job.stream) return;
    const std::string disagreement = io::check_digest(outcome.job.recording);
    if (!disagreement.empty()) outcome.job.warnings.push_back(disagreement);
}

// Where the user wants no more while the samples are profiled, what is left is ended in order.
GraphRun scheduled_run(const RxOptions& options, const Topology& topology, RxCarriers& carriers,
                       const Listening& user) {
    GraphRun run(how_to_run(options, carriers.whole().job.stream != nullptr), topology);
    try {
        find_schedule(run, topology, carriers);
    } catch (const Error&) {
        if (!user.wants_end()) throw;
    }
    if (!user.wants_end()) return run;
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

// Of frames that were found and not decoded: whether they are scrambled by another gold code.
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

// What a scan says of the nearest carrier to the place where nothing was received; empty where it knows none,
// and of a live input.
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

void run(const RxOptions& options, RxCarriers& carriers, RxGuard& guard, RxPage& page,
         const Listening& user) {
    const Topology topology = topology_by(options.running.kinds);
    GraphRun run = scheduled_run(options, topology, carriers, user);
    // A track of the carrier's drift counts from the first sample.
    if (!options.reception.doppler) skip_behind_gap(carriers.whole().job);
    RxReception reception(options, carriers);
    std::exception_ptr failure;
    carriers.whole().start_s = guard.elapsed_s();
    attempt([&] { reception.go(run, guard, page); }, failure);
    // What fails before anything was read leaves its places as they were.
    if (failure && !reception.has_read()) std::rethrow_exception(failure);
    attempt([&] { reception.close(run, page); }, failure);
    take_account(run, reception, carriers);
    carriers.whole().failure = failure;
    if (options.check_digest) check_digest(carriers.whole());
    if (!carriers.is_band() && !failure && !carriers[0].outcome.interrupted &&
        !carriers[0].outcome.received())
        carriers[0].outcome.instead = heard_instead(carriers[0].outcome.job);
}

CarriersOutcome receive_all(RxOptions options) {
    const Listening user(options.running.stop);
    options.reception.reopens = true;
    options.reception.given_up = [&user] { return user.wants_end(); };
    // Before there are threads, and before anything from outside is read.
    std::vector<io::TunDevice> interfaces = open_interfaces(options.outputs.ip);
    RxGuard guard(options.exit_on, !options.running.stop.stop_possible(), options.running.how.seconds);
    RxPage page(options.page, options.of_all_carriers() ? dvbs2::BandReceiver::kMostCarriers : 1);
    if (!page.url().empty()) tell("look       {}\n", page.url());
    options.reception.came = [&guard] { guard.samples_came(); };
    options.reception.opened = [&guard] { guard.samples_are_there(); };
    options.reception.awaited = [&guard] { guard.samples_are_awaited(); };
    RxCarriers carriers(options, std::move(interfaces));
    if (!carriers.empty()) run(options, carriers, guard, page, user);
    for (std::size_t k = 0; k < carriers.size(); ++k) {
        carriers[k].outcome.lasted_s = guard.elapsed_s();
        carriers[k].outcome.ended_as_asked = guard.has_ended_it();
    }
    carriers.whole().ended_by = guard.ended_by();
    return carriers.take();
}

}  // namespace

RxOutcome receive(const RxOptions& options) {
    return std::move(receive_all(options).carriers.front().outcome);
}

CarriersOutcome receive_carriers(const RxOptions& options) {
    return receive_all(options);
}

}  // namespace tidemill::cli

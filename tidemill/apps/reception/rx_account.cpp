#include "tidemill/apps/reception/rx_account.hpp"

#include <fmt/format.h>

#include "tidemill/apps/reception/page/band_tap.hpp"
#include "tidemill/apps/reception/rx_schedule.hpp"
#include "tidemill/dvbs2/receiver/retuned_source.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/io/files/hertz_text.hpp"
#include "tidemill/io/files/number_text.hpp"
#include "tidemill/io/live/stream_reader.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"

namespace tidemill::cli {

namespace {

// Adds what only the source knows: the samples as they were recorded, before a tuner made others of them.
void account_for_tuner(const dvbs2::TunedSource& tuned, RxOutcome& outcome) {
    outcome.report.samples = tuned.samples();
    outcome.report.samples_clipped = tuned.defects().clipped;
    outcome.report.samples_not_finite = tuned.defects().non_finite;
}

void tell_move(const dvbs2::RetunedSource::Move& move, RxOutcome& outcome) {
    outcome.job.warnings.push_back(
        fmt::format("from {} on the carrier at {} Hz with {:.1f} symbols/s is received: it was found when "
                    "nothing was left where the receiver listened",
                    io::seconds_text(move.at_s),
                    io::signed_hertz_text(move.to.offset_hz - outcome.job.carrier_hz.value_or(0)),
                    move.to.symbol_rate_hz));
}

void account_for_source(const io::SampleSource& source, RxOutcome& outcome) {
    if (const auto* tuned = dynamic_cast<const dvbs2::TunedSource*>(&source)) {
        account_for_tuner(*tuned, outcome);
        return account_for_source(tuned->source(), outcome);
    }
    if (const auto* retuned = dynamic_cast<const dvbs2::RetunedSource*>(&source)) {
        if (retuned->tuned()) account_for_tuner(*retuned->tuned(), outcome);
        outcome.report.samples = retuned->samples();
        for (const auto& move : retuned->moves()) tell_move(move, outcome);
        return account_for_source(retuned->source(), outcome);
    }
    if (const auto* tap = dynamic_cast<const BandTap*>(&source))
        return account_for_source(tap->source(), outcome);
    if (const auto* file = dynamic_cast<const io::RecordingReader*>(&source))
        outcome.missing_samples = file->missing_samples();
    const auto* stream = dynamic_cast<const io::StreamReader*>(&source);
    if (!stream) return;
    outcome.missing_samples = stream->source().losses().samples;
    outcome.trouble = stream->source().trouble();
    outcome.remarks = stream->source().remarks();
}

void account_for_run(const GraphRun& run, const WatchedRun& watched, RxOutcome& outcome) {
    outcome.executor = run.executor();
    outcome.schedule = run.schedule();
    outcome.model = run.model();
    outcome.account = account_of(run);
    if (run.choice()) outcome.predicted_period_us = run.predicted_period_us();
    outcome.changes = run.changes();
    outcome.run = watched.report();
    outcome.interrupted = watched.interrupted() || outcome.job.interrupted;
}

void account_for_carrier(const Receivers& receivers, std::size_t k, RxCarrier& carrier) {
    RxOutcome& outcome = carrier.outcome;
    outcome.report = receivers.report(k);
    outcome.ts = seen_by(carrier.writer->monitor());
    outcome.ts.packets = outcome.report.packets.packets;  // of all streams
    outcome.packets_not_sent = carrier.writer->not_sent();
    outcome.places = carrier.writer->accounts();
    outcome.packet_bytes_lost = carrier.writer->packet_bytes_lost();
    outcome.ip = carrier.writer->ip_counts();
}

// Parts of the whole for each of several carriers, and of each for the whole.
void add_to_whole(RxOutcome& own, RxOutcome& together) {
    own.run = together.run;
    own.executor = together.executor;
    own.interrupted = together.interrupted;
    together.report.totals.frames += own.report.totals.frames;
    together.report.totals.frames_bad += own.report.totals.frames_bad;
    together.report.totals.info_bits += own.report.totals.info_bits;
    together.ts.packets += own.ts.packets;
    together.report.samples = own.report.samples;
}

}  // namespace

void collect_results(const GraphRun& run, const RxReception& reception, RxCarriers& carriers) {
    const Receivers& receivers = reception.receivers();
    RxOutcome& whole = carriers.whole();
    account_for_run(run, reception.watched(), whole);
    if (whole.job.stream) count_as_waiting(whole.run, receivers.reading_task(), reception.waited_us());
    for (std::size_t k = 0; k < carriers.size(); ++k) {
        account_for_carrier(receivers, k, carriers[k]);
        if (carriers.is_band()) add_to_whole(carriers[k].outcome, whole);
    }
    account_for_source(reception.source(), whole);
    if (whole.job.config.ldpc_device) whole.device = receivers.ldpc_device_use();
    predict_from_period(whole);
}

}  // namespace tidemill::cli

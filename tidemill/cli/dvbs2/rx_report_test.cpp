#include "tidemill/apps/reception/rx_report.hpp"

#include <doctest/doctest.h>

#include "tidemill/apps/reception/rx_outcome.hpp"
#include "tidemill/testing/program.hpp"

namespace tidemill::cli {

TEST_CASE("rx report: who ends a reception of samples that are no numbers, or saturated, is told that") {
    RxOutcome outcome;
    outcome.job.recording.data_path = "driver=loopback";
    outcome.interrupted = true;
    outcome.report.samples = 1000;
    CHECK(failure_text(outcome) ==
          "interrupted after 1000 samples of driver=loopback, before anything was received");
    outcome.report.samples_not_finite = 1000;
    CHECK(internal::says(failure_text(outcome), "received: 100 % of the samples are no numbers"));
    outcome.report.samples_not_finite = 0;
    outcome.report.samples_clipped = 900;
    CHECK(internal::says(failure_text(outcome), "received: 90 % of the samples are at the ends"));
}

TEST_CASE("rx report: a signal of dummy frames alone is told as one") {
    RxOutcome outcome;
    outcome.job.recording.data_path = "idle.ci8";
    outcome.report.symbol_rate_hz = 1e6;
    outcome.report.sync.symbols = 1'000'000;
    CHECK(internal::says(failure_text(outcome), "no DVB-S2 frames found in idle.ci8"));
    outcome.report.sync.dummy_frames = 300;
    CHECK(failure_text(outcome) == "300 dummy frames found in idle.ci8 at 1M symbols/s, and none with data");
}

TEST_CASE("rx report: what a signal suffers from is told in its summary, and where nothing came of it") {
    RxOutcome outcome;
    outcome.report.symbol_rate_hz = 1e6;
    CHECK_FALSE(internal::says(summary_text(outcome), "disturbed"));
    CHECK_FALSE(internal::says(failure_text(outcome), "disturbed"));
    outcome.report.totals.frames = outcome.report.totals.frames_bad = 14;
    outcome.report.totals.frames_weak = 12;
    outcome.report.totals.weakest_esn0_db = -1.26F;
    outcome.report.blanked_share = 0.011;
    outcome.report.tones_hz = {52.5e3};
    outcome.report.largest_drift_hz_per_s = 1234;
    outcome.report.clockless = {.begin_s = 0.65, .seconds = 0.45};
    const std::string told =
        "too weak: 12 of 14 bad frames, down to -1.3 dB Es/N0, pulses: 1.1 % of the samples blanked, tone at "
        "+52.5 kHz, drift of 1.2 kHz/s, no "
        "clock of 1000000 symbols/s from 0.65 s on, for 0.45 s: noise, or a signal of another symbol rate";
    CHECK(internal::says(summary_text(outcome), "\ndisturbed  " + told + "\n"));
    CHECK(internal::says(failure_text(outcome), "; disturbed: " + told));
    const std::string account = account_text(outcome);
    CHECK(internal::says(account, "\ndisturbed  " + told + "\nspeed "));
    CHECK(account.find("\nlosses") == account.rfind("\nlosses"));
}

}  // namespace tidemill::cli

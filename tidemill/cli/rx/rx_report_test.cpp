#include "tidemill/cli/rx/rx_report.hpp"

#include <doctest/doctest.h>

#include "tidemill/cli/internal/program.hpp"
#include "tidemill/cli/rx/rx_outcome.hpp"

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

}  // namespace tidemill::cli

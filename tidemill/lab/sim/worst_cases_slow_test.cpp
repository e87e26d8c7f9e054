#include "tidemill/lab/sim/testing/worst_case_checks.hpp"

namespace tidemill::worst_case {

namespace {

// The sanitizers look at memory, which fewer workers use alike.
#ifdef TIDEMILL_SANITIZED
constexpr unsigned kMostWorkers = 8;
#else
constexpr unsigned kMostWorkers = 32;
#endif

}  // namespace

TEST_CASE("exhaustion is p/(2p-1) for up to 32 workers") {
    for (unsigned p = 8; p <= kMostWorkers; p *= 2) check_exhaustion(p);
}

TEST_CASE("back pressure is as the formulas say for up to 32 workers") {
    for (unsigned p = 8; p <= kMostWorkers; p *= 2) check_back_pressure(p);
}

TEST_CASE("fifo's worst pipeline is as the formula says for up to 16 workers") {
    check_fifo_back_pressure(8, 5000);
    if (kMostWorkers >= 16) check_fifo_back_pressure(16, 12000);
}

TEST_CASE("the adaptive policies cure exhaustion for up to 32 workers") {
    for (unsigned p = 8; p <= kMostWorkers; p *= 2) check_cure(p);
}

}  // namespace tidemill::worst_case

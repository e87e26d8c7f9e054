#include "tidemill/apps/reception/page/rx_history.hpp"

#include <doctest/doctest.h>

namespace tidemill::cli {
namespace {

RxView second_of(int second, bool locked, double esn0_db) {
    RxView view{};
    view.time_s = second;
    view.now.locked = locked;
    view.pls = dvbs2::Pls{10, dvbs2::FrameSize::short_, true};
    view.esn0_db = esn0_db;
    view.frames = 10;
    view.frames_bad = 1;
    view.ldpc_iterations = 90;
    view.ts.continuity_errors = static_cast<std::uint64_t>(3 * second);
    return view;
}

}  // namespace

TEST_CASE("history: a moment has its margin, its losses since the one before, and its MODCOD") {
    RxHistory history;
    history.add(second_of(1, true, 9.2));
    history.add(second_of(2, false, 9.2));
    const RxMoment& first = history.moments()[0];
    CHECK(*first.margin_db == doctest::Approx(3.0));
    CHECK(*first.iterations == 10);
    CHECK(first.packets_lost == 3);
    CHECK(first.modcod == "QPSK 8/9 short");
    CHECK_FALSE(history.moments()[1].margin_db);
    CHECK(history.moments()[1].packets_lost == 3);
    CHECK(history.newest().time_s == 2);
}

TEST_CASE("history: a week has no more moments than ten minutes, and no loss is forgotten") {
    RxHistory history;
    constexpr int kWeek = 7 * 86400;
    for (int second = 1; second <= kWeek; ++second)
        history.add(second_of(second, true, second == 1000 ? 5.0 : 9.2));
    CHECK(history.moments().size() < RxHistory::kMostMoments);
    CHECK(history.moments().size() >= RxHistory::kMostMoments / 2 - 1);
    std::uint64_t lost = 0;
    double least = 10;
    for (const RxMoment& moment : history.moments()) {
        lost += moment.packets_lost;
        least = std::min(least, moment.margin_db.value_or(10));
    }
    const double covered_s = history.moments().back().time_s;
    CHECK(lost == static_cast<std::uint64_t>(3 * covered_s));
    CHECK(covered_s > 0.99 * kWeek);
    CHECK(least == doctest::Approx(-1.2));
}

}  // namespace tidemill::cli

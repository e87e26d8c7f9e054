#include <algorithm>
#include <span>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

constexpr std::size_t kFrames = 60;

/// Frames without pilots, to which from the middle on another channel leads.
Received receive_changed(const Pls& pls, double esn0_db, std::vector<Echo> before, std::vector<Echo> behind) {
    ChannelConfig channel;
    channel.esn0_db = esn0_db;
    channel.frequency_cycles_per_symbol = 0.01;
    channel.echoes = std::move(before);
    MadeReception made = make_reception(pls, kFrames, channel);
    channel.echoes = std::move(behind);
    const MadeReception other = make_reception(pls, kFrames, channel);
    const std::size_t common = std::min(made.samples.size(), other.samples.size());
    const std::size_t middle = common / 2;
    std::ranges::copy(std::span(other.samples).subspan(middle, common - middle),
                      made.samples.begin() + static_cast<std::ptrdiff_t>(middle));
    return receive(made.samples);
}

}  // namespace

TEST_CASE("late echo: it is learned in a few frames, and told") {
    struct Kind {
        int modcod;
        FrameSize size;
        double esn0_db;
    };
    for (const Kind& kind : {Kind{7, FrameSize::short_, 7.5}, {14, FrameSize::short_, 12.5}}) {
        CAPTURE(kind.modcod);
        const Received received =
            receive_changed({kind.modcod, kind.size, false}, kind.esn0_db, {}, {{3.3, -6, 1}});
        CHECK(received.report.totals.frames_bad <= 5);
        CHECK(received.report.echo_symbols == doctest::Approx(3.3).epsilon(0.1));
        CHECK(received.report.echo_db == doctest::Approx(-6).epsilon(0.15));
    }
}

TEST_CASE("late echo: where another one takes its place, that is learned, too") {
    const Received received =
        receive_changed({7, FrameSize::short_, false}, 7.5, {{3.3, -6, 1}}, {{5.3, -6, 3}});
    CHECK(received.report.totals.frames_bad <= 10);
    CHECK(received.report.echo_symbols == doctest::Approx(5.3).epsilon(0.1));
}

}  // namespace tidemill::dvbs2

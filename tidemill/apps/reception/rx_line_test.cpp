#include "tidemill/apps/reception/rx_line.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/apps/reception/rx_outcome.hpp"

namespace tidemill::cli {
namespace {

RxView view_of(double time_s, bool locked) {
    RxView view{};
    view.pls = dvbs2::Pls{10, dvbs2::FrameSize::short_, true};
    view.esn0_db = 9.2;
    view.time_s = view.frame_s = time_s;
    view.now.locked = view.now.found = locked;
    view.now.frequency_hz = 12'400;
    view.now.totals.frames = 1;
    return view;
}

}  // namespace

TEST_CASE("rx line: a lock in one line, with what is over the threshold") {
    CHECK(state_line(view_of(1, true)) ==
          "00:00:01   lock   QPSK 8/9 short   Es/N0 9.2 dB (3.0 over)   +12.4 kHz   bad frames 0   "
          "continuity errors 0");
    CHECK(state_line(view_of(3661, false)) == "01:01:01   lost   bad frames 0   continuity errors 0");
    CHECK(state_line(RxView{}) == "00:00:00   no signal   bad frames 0   continuity errors 0");
    CHECK(clock_text(400'000) == "111:06:40");
}

TEST_CASE("rx line: a lock is told with its MODCOD, and none where nothing comes") {
    RxView view = view_of(1, true);
    view.pls.reset();
    CHECK(state_line(view) == "00:00:01   signal, no lock yet   bad frames 0   continuity errors 0");
    view = view_of(5, true);
    view.ring = RingState{.silent_s = 1.5, .trouble = "'tcp://x:1' has vanished, and is looked for"};
    CHECK(state_line(view) ==
          "00:00:05   no samples   bad frames 0   continuity errors 0   'tcp://x:1' has vanished, and is "
          "looked for");
}

TEST_CASE("lock teller: trouble with the input is told once, and an end is no loss") {
    std::vector<std::string> lines;
    LockTeller teller([&](const std::string& line) { lines.push_back(line); });
    teller.look(view_of(1, true));
    RxView view = view_of(2, true);
    view.ring = RingState{.trouble = "it is gone"};
    teller.look(view);
    teller.look(view);
    REQUIRE(lines.size() == 2);
    CHECK(lines[1].ends_with("it is gone"));
    view = view_of(3, false);
    teller.end(view);
    CHECK(lines.size() == 2);
}

TEST_CASE("rx line: a player is named for what is sent to it, and for nothing else") {
    CHECK(watch_hint("udp://127.0.0.1:5000") ==
          "watch      ffplay udp://127.0.0.1:5000   (or VLC: udp://@:5000)\n");
    CHECK(watch_hint("rtp://127.0.0.1:5004") == "watch      ffplay rtp://127.0.0.1:5004\n");
    CHECK(watch_hint("tcp-listen://[::1]:5001") == "watch      ffplay tcp://[::1]:5001\n");
    CHECK(watch_hint("video.ts").empty());
    CHECK(watch_hint("").empty());
}

TEST_CASE("lock teller: what changes is told, at most six times a minute, and how often it was not") {
    std::vector<std::string> lines;
    LockTeller teller([&](const std::string& line) { lines.push_back(line); });
    for (int i = 0; i < 100; ++i) teller.look(view_of(0.5 * i, i % 2 == 1));
    CHECK(lines.size() == 6);
    teller.look(view_of(61, true));
    teller.look(view_of(62, false));
    CHECK(lines.size() == 7);
    CHECK(lines.back().ends_with("   93 earlier changes were left out"));
}

TEST_CASE("lock teller: a lock that is lost and found again between two looks is told") {
    std::vector<std::string> lines;
    LockTeller teller([&](const std::string& line) { lines.push_back(line); });
    RxView view = view_of(1, true);
    view.now.locks = 1;
    teller.look(view);
    teller.look(view);
    CHECK(lines.size() == 1);
    view.now.locks = 2;
    teller.look(view);
    teller.look(view);
    REQUIRE(lines.size() == 2);
    CHECK(lines.back().ends_with("   bad frames 0   continuity errors 0   the lock was lost for a moment"));
    view.now.locked = view.now.found = false;
    teller.look(view);
    view.now.locked = view.now.found = true;
    view.now.locks = 3;  // the one that is reported anyway
    teller.look(view);
    CHECK(lines.size() == 4);
    CHECK(lines.back().ends_with("   bad frames 0   continuity errors 0"));
}

TEST_CASE("lock teller: what stood still when it was ended has no lock again") {
    std::vector<std::string> lines;
    LockTeller teller([&](const std::string& line) { lines.push_back(line); });
    teller.look(view_of(1, true));
    RxView view = view_of(5, true);
    view.ring = RingState{.silent_s = 1.5};
    teller.look(view);
    view.ring->silent_s = 0;
    teller.end(view);
    REQUIRE(lines.size() == 2);
    CHECK(lines.back() == "00:00:05   no samples   bad frames 0   continuity errors 0");
}

TEST_CASE("rx line: the last one says where samples were lost, by which clock, and that the user ended it") {
    RingState ring{.loses = true, .holds_s = 0.5, .least_room_s = 0.43, .gaps = 1, .samples = 8192};
    ring.latest_gaps = {{.at_s = 843.2, .samples = 8192}};
    CHECK(ring_text(ring) ==
          "   overflows 1 (at 00:14:03, 8192 samples)   buffer 0.43 of 0.50 s free at least");
    ring.gaps = 2;
    ring.latest_gaps.push_back({.at_s = 900, .samples = 10, .by = GapMeasure::wall});
    ring.loses = false;
    CHECK(ring_text(ring) == "   overflows 2 (the last at 00:15:00, 10 samples by the clock on the wall)");
    ring.latest_gaps.back().by = GapMeasure::frames_and_clock;
    CHECK(ring_text(ring) ==
          "   overflows 2 (the last at 00:15:00, 10 samples by frames and the stream's clock)");
    CHECK(ring_text(RingState{}).empty());
    RxOutcome outcome;
    CHECK(last_line(outcome) == "00:00:00   0 kB   bad frames 0   continuity errors 0\n");
    outcome.interrupted = true;
    CHECK(last_line(outcome) == "00:00:00   0 kB   bad frames 0   continuity errors 0   interrupted\n");
    outcome.ended_as_asked = true;
    CHECK(last_line(outcome) == "00:00:00   0 kB   bad frames 0   continuity errors 0\n");
}

TEST_CASE(
    "rx line: the last one tells the time of a recording's samples, and of a live input how long it took") {
    RxOutcome outcome;
    outcome.job.recording.sample_rate_hz = 2e6;
    outcome.report.samples = 180'000'000;
    outcome.lasted_s = 7;
    CHECK(last_line(outcome).starts_with("00:01:30   "));
    outcome.outputs.live = true;
    CHECK(last_line(outcome).starts_with("00:00:07   "));
}

TEST_CASE("lock teller: a recording that was over at once was locked all the same") {
    std::vector<std::string> lines;
    LockTeller teller([&](const std::string& line) { lines.push_back(line); });
    teller.end(view_of(0, false));
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("lock   QPSK 8/9") != std::string::npos);
    LockTeller silent([](const std::string&) { FAIL("there was no signal"); });
    silent.end(RxView{});
}

}  // namespace tidemill::cli

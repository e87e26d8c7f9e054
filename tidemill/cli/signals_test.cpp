#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/shell.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;

// Runs the program on a named pipe that holds `source` and that nobody closes, until `ready` holds; then
// sends it a signal.
int interrupt(const std::string& folder, const std::string& source, const std::string& arguments,
              const std::string& ready, const char* signal) {
    return run_shell(
        fmt::format("cd {}; mkfifo air.ci8; exec 3<>air.ci8; cat {} >air.ci8 3>&- & $tidemill {} >out 2>err "
                    "3>&- & job=$!; "
                    "until {}; do sleep 0.05; done; kill -{} $job; wait $job",
                    folder, source, arguments, ready, signal));
}

}  // namespace

TEST_CASE("signals: a reception whose source stands still ends with whole packets and its report") {
    const SmallRecording& recording = small_recording();
    for (const char* signal : {"INT", "TERM", "HUP"}) {
        CAPTURE(signal);
        const ScratchFolder folder;
        const int status =
            interrupt(folder / "", recording.data(),
                      "dvbs2 rx air.ci8 --rate 2e6 --executor sequence -o out.ts --status lines",
                      "grep -sq '\"ts_packets\":[1-9]' lines", signal);
        INFO(ScratchFolder::content_of(folder / "err"));
        CHECK(status == 0);
        const std::string out = ScratchFolder::content_of(folder / "out.ts");
        CHECK(!out.empty());
        CHECK(out.size() % io::kTsPacketBytes == 0);
        CHECK(recording.packets.find(out) != std::string::npos);
        CHECK(!ScratchFolder::content_of(folder / "out").empty());
    }
}

TEST_CASE("signals: before any sample came a reception ends at once, and says so, at any rate") {
    for (const char* symbol_rate : {"1e6", "1.25e6", "50e3"}) {
        CAPTURE(symbol_rate);
        const ScratchFolder folder;
        folder.put("nothing", "");
        const int status =
            interrupt(folder / "", folder / "nothing",
                      fmt::format("dvbs2 rx air.ci8 --rate 2e6 --symbol-rate {} -o out.ts", symbol_rate),
                      "test -s ready || { touch ready2; sleep 0.3; echo >ready; }", "INT");
        CHECK(status == 1);
        CHECK(says(ScratchFolder::content_of(folder / "err"), "interrupted after 0 samples"));
    }
}

TEST_CASE("signals: a scan that heard nothing before it was ended says so, and is no empty band") {
    const ScratchFolder folder;
    folder.put("nothing", "");
    const int status = interrupt(folder / "", folder / "nothing", "dvbs2 scan air.ci8 --rate 2e6",
                                 "test -s ready || { touch ready2; sleep 0.3; echo >ready; }", "TERM");
    CHECK(status == 1);
    CHECK(says(ScratchFolder::content_of(folder / "err"), "interrupted before samples came"));
}

TEST_CASE("signals: a scan that is ended tells what was heard until then, and that it was ended") {
    const ScratchFolder folder;
    std::string hiss(1 << 20, '\0');
    unsigned state = 1;
    for (char& byte : hiss) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 28);
    // More than the pipe holds: once it was all written, it is read.
    const int status = run_shell(fmt::format(
        "cd {}; mkfifo air.ci8; exec 3<>air.ci8; $tidemill dvbs2 scan air.ci8 --rate 2e6 >out 2>err 3>&- & "
        "job=$!; cat {} >air.ci8; kill -INT $job; wait $job",
        std::string(folder / ""), folder.put("hiss", hiss).string()));
    INFO(ScratchFolder::content_of(folder / "err"));
    CHECK(status == 1);
    CHECK(says(ScratchFolder::content_of(folder / "err"), "interrupted: not all was listened to"));
    CHECK(says(ScratchFolder::content_of(folder / "out"), "no carrier found"));
}

TEST_CASE("signals: packets that wait for their time in a datagram do not hold up the end") {
    const SmallRecording& recording = small_recording();
    const ScratchFolder folder;
    const int status = run_shell(fmt::format(
        "cd {}; $tidemill dvbs2 rx {} --format ci8 --rate 2e6 --executor pipeline -o udp://127.0.0.1:9 "
        "--udp-rate 0.0001 >out 2>err & job=$!; sleep 1; kill -TERM $job; "
        "( sleep 10; kill -KILL $job 2>&- ) & wait $job",
        std::string(folder / ""), recording.data()));
    INFO(ScratchFolder::content_of(folder / "err"));
    CHECK((status == 0 || status == 1));
    CHECK(!ScratchFolder::content_of(folder / "out").empty());
}

TEST_CASE(
    "signals: a place that takes nothing, and for which the input is to wait, does not hold up the end") {
    const SmallRecording& recording = small_recording();
    for (const char* input : {"air.ci8 --rate 2e6 --symbol-rate 1e6 --when-full wait", ""}) {
        const ScratchFolder folder;
        const int status = run_shell(fmt::format(
            "cd {}; mkfifo air.ci8 full; exec 3<>air.ci8 4<>full; cat {} >air.ci8 3>&- & "
            "head -c 65536 /dev/zero >full; "
            "$tidemill dvbs2 rx {} --executor sequence -o full --status lines >out 2>err 3>&- 4>&- & job=$!; "
            "until grep -sq '\"ts_packets\":[1-9]' lines; do sleep 0.05; done; kill -INT $job; "
            "( sleep 20; kill -KILL $job 2>&- ) & wait $job",
            std::string(folder / ""), recording.data(), *input == 0 ? recording.meta.c_str() : input));
        INFO(ScratchFolder::content_of(folder / "err"));
        CHECK(status == 1);
        CHECK(says(ScratchFolder::content_of(folder / "err"), "took nothing for too long"));
        CHECK(!ScratchFolder::content_of(folder / "out").empty());
    }
}

TEST_CASE("signals: a live input is received as it comes, long before a few megabytes are there") {
    const SmallRecording& recording = small_recording();
    const ScratchFolder folder;
    // Silence trickles in behind the signal, so that nobody can take it for the end.
    const int status = run_shell(fmt::format(
        "cd {}; mkfifo air.ci8; (cat {}; while sleep 0.05; do head -c 5000 /dev/zero; done) "
        ">air.ci8 & feed=$!; "
        "$tidemill dvbs2 rx air.ci8 --rate 2e6 --symbol-rate 1e6 -o out.ts --stats >out 2>err & job=$!; "
        "until test -s out.ts; do sleep 0.05; done; kill -INT $job; wait $job; ended=$?; kill "
        "$feed; exit $ended",
        (folder / "").string(), recording.data()));
    INFO(ScratchFolder::content_of(folder / "err"));
    CHECK(status == 0);
    CHECK(recording.packets.find(ScratchFolder::content_of(folder / "out.ts")) != std::string::npos);
    CHECK(says(ScratchFolder::content_of(folder / "out"), "executor sequence"));
}

TEST_CASE("signals: while the first samples are weighed a reception ends with its line and its report") {
    const SmallRecording longer(dsp::SampleFormat::ci8, 160);
    const ScratchFolder folder;
    // The profile alone would take ten minutes.
    const int status = run_shell(fmt::format(
        "cd {}; $tidemill dvbs2 rx {} --executor pipeline --profile-seconds 600 -o out.ts "
        "--report report.html --page >out 2>err & "
        "job=$!; while kill -0 $job && ! grep -q look err; do sleep 0.05; done; sleep 0.2; kill -INT $job; "
        "wait $job",
        std::string(folder / ""), longer.meta));
    const std::string err = ScratchFolder::content_of(folder / "err");
    INFO(err);
    if (says(err, "was built without its page")) {
        MESSAGE("skipped: no page");
        return;
    }
    CHECK((status == 0 || status == 1));
    CHECK(says(ScratchFolder::content_of(folder / "report.html"), "</html>"));
    CHECK(says(err + ScratchFolder::content_of(folder / "out"), status == 0 ? "bad frames" : "interrupted"));
}

TEST_CASE("signals: a transmission whose input stands still ends with the packets that came") {
    const std::string packets = small_recording().packets.substr(0, 100 * io::kTsPacketBytes);
    for (const char* signal : {"INT", "TERM", "HUP"}) {
        CAPTURE(signal);
        const ScratchFolder folder;
        const int status = interrupt(folder / "", folder.put("in.ts", packets),
                                     "dvbs2 tx air.ci8 -o signal.ci8 --frame short --packets-output sent.ts",
                                     "test -s signal.ci8", signal);
        INFO(ScratchFolder::content_of(folder / "err"));
        CHECK(status == 0);
        CHECK(says(ScratchFolder::content_of(folder / "out"), "sent "));
        CHECK(packets.starts_with(ScratchFolder::content_of(folder / "sent.ts")));
    }
}

}  // namespace tidemill::cli

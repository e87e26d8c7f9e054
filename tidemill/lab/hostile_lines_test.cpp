#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/testing/program.hpp"
#include "tidemill/testing/shell.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;

struct Line {
    std::string shell;
    int status;
    std::string says;
};

// Lines that once went wrong, or easily could. What single options are given, hostile_calls tries by itself.
const std::vector<Line> kLines = {
    {"$tidemill schedule chain.json --cores big=1 -o /dev/full", 1, "No space left"},
    {"$tidemill schedule chain.json --cores big=1 -o /nowhere/s.json", 1, "/nowhere/s.json"},
    {"$tidemill run chain.json --cores big=1 --frames 3 --trace /dev/full", 1, "/dev/full"},
    {"$tidemill run chain.json --cores big=1 --frames 3 --trace /nowhere/t", 1, "/nowhere/t"},
    {"$tidemill tasks fm --simulate --iterations 1 --trace /dev/full", 1, "trace"},
    {"$tidemill dvbs2 ber --modcod 10 --frame short --frames 1 --threads 1 --csv /dev/full", 1, "/dev/full"},
    {"$tidemill dvbs2 tx b.ts -o /dev/full", 1, "No space left"},
    {"$tidemill dvbs2 tx b.ts -o out.ci8 --packets-output /dev/full", 1, "No space left"},
    {"$tidemill dvbs2 rx rec.sigmf-meta --executor sequence --status /dev/full", 1, "No space left"},
    {"ulimit -f 1; $tidemill dvbs2 tx b.ts -o out.ci8", 1, "ulimit -f"},
    {"ulimit -f 1; $tidemill dvbs2 rx rec.sigmf-meta --executor sequence -o out.ts", 1, "ulimit -f"},

    {"$tidemill schedule chain.json --cores big=1 -o -", 2, "--output -: it is written to a file"},
    {"$tidemill dvbs2 tx b.ts -o out.mp3", 2, "does not give the format"},
    {"$tidemill dvbs2 tx b.ts -o ''", 2, "--output"},
    {"$tidemill dvbs2 tx b.ts -o .", 2, "it is a folder"},
    {"$tidemill dvbs2 tx b.ts -o out.cf32 --format ci8", 2, "promises"},
    {"$tidemill dvbs2 tx b.ts -o=out.ci8", 2, "leave the = out"},
    {"$tidemill dvbs2 tx b.ts -o out.ci8 --symbol-rate 1e-300", 2, "give a number from 1 to"},
    {"$tidemill dvbs2 tx b.ts -o out.ci8 --symbol-rate 90G", 2, "--symbol-rate 90G: that makes 180G samples"},
    {"$tidemill dvbs2 rx rec.sigmf-meta --symbol-rate 1e-300", 2, "are 2e+306 times the symbol rate 1e-300"},
    {"$tidemill dvbs2 rx rec.sigmf-meta --symbol-rate 1e10", 2, "are 0.0002 times the symbol rate 10G"},
    {"$tidemill dvbs2 tx b.ts --random 3 -o out.ci8", 2, "--random and packets"},
    {"$tidemill dvbs2 tx b.ts -o out.ci8 --burst 8 --burst-every 1e300", 2, "--burst-every 1e300: give"},
    {"$tidemill dvbs2 rx rec.sigmf-meta --isi 256", 2, "--isi 256"},
    {"$tidemill tasks fm --policy $(printf %03000d 0)", 2, "take one of fifo"},
    {"$tidemill dvbs2 rx rec.sigmf-meta --json=no", 2, "--json no"},
    {"$tidemill dvbs2 rx rec.sigmf-meta -o", 2, "--output"},
    {"$tidemill dvbs2 channel rec.sigmf-meta -o out.ci8 --echo 1e300,-3", 2, "--echo 1e300,-3: give SYMBOLS"},
    {"$tidemill run chain.json --cores big=1 --frames 3 --probe nowhere.x", 2, "--probe nowhere.x"},
    {"mkfifo meter; $tidemill run chain.json --cores big=1 --frames 3 --energy-meter file:meter", 2,
     "named pipe"},
    {"$tidemill run chain.json --cores big=1 --frames 3 --watchdog 1e300", 2, "--watchdog 1e300"},
    {"$tidemill front chain.json --cores big=1 --watts little=1", 2, "--watts"},
    {"$tidemill schedule chain.json --cores big=1 --watts little=1", 2, "--watts"},

    {"$tidemill dvbs2 rx - --format ci8 --rate 2M <&-", 3, "standard input"},
    {"$tidemill dvbs2 rx - --format ci8 --rate 2M </dev/null", 3, "standard input is empty"},
    {"$tidemill dvbs2 rx - --format ci8 --rate 2M <.", 3, "Is a directory"},
    {"$tidemill schedule /dev/zero --cores big=1", 3, "longer than"},
    {"$tidemill dvbs2 rx rec.sigmf-meta -o udp://127.0.0.1:99999", 2, "99999"},
    {"$tidemill dvbs2 rx rec.sigmf-meta --executor pipeline --latency-us 1e300", 0, ""},
    {"printf %s '{\"x\\ny\": 1}' >line.json; $tidemill schedule line.json --cores big=1", 3, "x\\x0ay"},
    {"printf %s '{\"x\\u0000y\": 1}' >line.json; $tidemill schedule line.json --cores big=1", 3, "y\""},
    {"$tidemill dvbs2 rx \"$(printf '\\033[2J.ci8')\" --rate 2M", 3, "\\x1b[2J.ci8"},
    {"$tidemill \"$(printf '\\033[2J')\"", 2, "\\x1b[2J"},
    {"$tidemill \"$(printf '\\233')\"", 2, "\\x9b"},
};

// Lines that must work.
const std::vector<std::string> kFine = {
    "$tidemill dvbs2 tx b.ts -o out.cf32 --frame short",
    "$tidemill dvbs2 channel out.cf32 --rate 2M -o out.ci16",
    ("mkfifo pipe.ci8; cat out.ci16 >pipe.ci8 & $tidemill dvbs2 rx pipe.ci8 --format ci16 --rate 2M "
     "--executor sequence"),
    "mkfifo air.ci8; cat air.ci8 >copy & $tidemill dvbs2 tx b.ts -o air.ci8; wait; test -s copy",
    "$tidemill dvbs2 tx -o out.ci8 -- b.ts",
    ("(head -c 10000 rec.sigmf-data; sleep 1.5; tail -c +10001 rec.sigmf-data) | $tidemill dvbs2 scan - "
     "--format ci8 --rate 2M | grep QPSK"),
    "$tidemill topo --",
};

}  // namespace

TEST_CASE("hostile lines: each ends by the convention, says why, and commands no terminal") {
    const ScratchFolder folder;
    const SmallRecording& small = small_recording();
    folder.put("rec.sigmf-meta", small.metadata());
    folder.put("rec.sigmf-data", small.bytes());
    folder.put("b.ts", small.packets);
    folder.put("chain.json", R"({"tasks": [{"name": "a", "replicable": true, "weight": {"big": 5}}]})");
    const std::string there = fmt::format("cd {}; ", (folder / "").string());
    for (const Line& line : kLines) {
        CAPTURE(line.shell);
        const int status = run_shell(fmt::format("{}( {} ) >said.out 2>said.err", there, line.shell));
        const std::string said = ScratchFolder::content_of(folder / "said.err");
        CAPTURE(said);
        CHECK(status == line.status);
        CHECK(says(said, line.says));
        CHECK_FALSE(says(said, "\x1b"));
        CHECK(said.size() < 700);  // nor does a long name hide what is said
    }
    for (const std::string& line : kFine) {
        CAPTURE(line);
        CHECK(run_shell(fmt::format("{}( {} ) >said.out 2>said.err", there, line)) == 0);
        CAPTURE(ScratchFolder::content_of(folder / "said.err"));
    }
}

TEST_CASE("every verb explains itself with an example") {
    for (const std::vector<std::string>& verb : {std::vector<std::string>{"topo"},
                                                 {"rehearse"},
                                                 {"schedule"},
                                                 {"pareto"},
                                                 {"simulate"},
                                                 {"tasks"},
                                                 {"reproduce"},
                                                 {"bench"},
                                                 {"dvbs2"},
                                                 {"dvbs2", "profile"},
                                                 {"dvbs2", "rx"},
                                                 {"dvbs2", "tx"},
                                                 {"dvbs2", "channel"},
                                                 {"dvbs2", "ber"}}) {
        CAPTURE(verb.back());
        auto arguments = verb;
        arguments.emplace_back("--help");
        const Ended ended = run_program(arguments);
        CHECK(ended.status == 0);
        CHECK(says(ended.out, "Example: tidemill " + verb.front()));
    }
}

}  // namespace tidemill::cli

#include "tidemill/options/standard_streams.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/testing/program.hpp"
#include "tidemill/testing/shell.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;

}  // namespace

TEST_CASE("streams: whatever becomes of standard error, the output file holds the stream and nothing else") {
    const SmallRecording& recording = small_recording();
    const ScratchFolder folder;
    const std::string receive = fmt::format("$tidemill dvbs2 rx {} --executor sequence -o {} ",
                                            recording.meta, (folder / "out.ts").string());
    for (const char* streams : {"2>&-", "0<&- 2>&-", "2>/dev/full", "0<&- 2>/dev/full"}) {
        CAPTURE(streams);
        std::filesystem::remove(folder / "out.ts");
        CHECK(run_shell(receive + "1>/dev/null " + streams) == 0);
        const std::string out = ScratchFolder::content_of(folder / "out.ts");
        CHECK(!out.empty());
        CHECK(recording.packets.find(out) != std::string::npos);
    }
}

TEST_CASE("streams: a result that standard output did not take is a failed job, and said") {
    const ScratchFolder folder;
    for (const char* verb : {"topo", "topo --json", "--help", "dvbs2 rx --help", "reproduce", "tasks"}) {
        for (const char* place : {"/dev/full", "&-"}) {
            CAPTURE(verb);
            CAPTURE(place);
            CHECK(run_shell(fmt::format("$tidemill {} 1>{} 2>{}", verb, place, (folder / "said").string())) ==
                  1);
            CHECK(says(ScratchFolder::content_of(folder / "said"), "cannot write to standard output"));
        }
    }
}

TEST_CASE("streams: a reader that has gone is an error, not a signal") {
    const ScratchFolder folder;
    const std::string fifo = folder / "pipe";
    const std::string line =
        fmt::format("mkfifo {0}; exec 3<>{0}; exec 4>{0}; exec 3<&-; $tidemill topo 1>&4 2>{1}", fifo,
                    (folder / "said").string());
    CHECK(run_shell(line) == 1);
    CHECK(says(ScratchFolder::content_of(folder / "said"), "Broken pipe"));
}

}  // namespace tidemill::cli

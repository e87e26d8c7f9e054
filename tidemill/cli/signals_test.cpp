#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/cli/dvbs2/internal/small_recording.hpp"
#include "tidemill/cli/internal/program.hpp"
#include "tidemill/cli/internal/shell.hpp"
#include "tidemill/io/ts_packet.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using io::internal::ScratchFolder;

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
                      "grep -sq '\"lock\":true' lines", signal);
        INFO(ScratchFolder::content_of(folder / "err"));
        CHECK(status == 0);
        const std::string out = ScratchFolder::content_of(folder / "out.ts");
        CHECK(!out.empty());
        CHECK(out.size() % io::kTsPacketBytes == 0);
        CHECK(recording.packets.find(out) != std::string::npos);
        CHECK(!ScratchFolder::content_of(folder / "out").empty());
    }
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

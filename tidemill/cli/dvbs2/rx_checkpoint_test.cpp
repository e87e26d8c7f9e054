#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;

std::string whole_reception() {
    const ScratchFolder folder;
    REQUIRE(receive_in_order(small_recording().meta, {"-o", folder / "whole.ts"}).status == 0);
    return ScratchFolder::content_of(folder / "whole.ts");
}

}  // namespace

TEST_CASE(
    "rx --checkpoint: the same command goes on, under any executor, where the last one was ended or killed") {
    const std::string expected = whole_reception();
    const ScratchFolder folder;
    const std::string out = folder / "out.ts";
    const auto receive = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"-o", out, "--checkpoint", folder / "state", "--profile-seconds", "0.01"});
        return receive_json(small_recording().meta, more);
    };
    CHECK(receive({"--executor", "sequence", "--frames", "12"}).status == 0);
    // A run that was killed may have written more than its last checkpoint knows of.
    std::ofstream(out, std::ios::app) << "not received";
    const Ended second = receive({"--executor", "dynamic", "--frames", "9"});
    CHECK(says(second.err, "goes on at frame 12"));
    CHECK(receive({"--frames", "8"}).status == 0);
    const Ended last = receive({"--executor", "sequence"});
    CHECK_MESSAGE(last.status == 0, last.err);
    CHECK(ScratchFolder::content_of(out) == expected);

    const Ended again = receive({});
    CHECK(again.status == 1);
    CHECK(says(again.err, "has ended: remove it to begin a new one"));
    CHECK(ScratchFolder::content_of(out) == expected);
}

TEST_CASE("rx --checkpoint: what does not fit is refused, and nothing is overwritten") {
    const ScratchFolder folder;
    const std::string out = folder / "out.ts";
    const std::vector<std::string> usual{"-o", out, "--checkpoint", folder / "state"};
    const auto receive = [&](std::vector<std::string> more) {
        more.insert(more.begin(), usual.begin(), usual.end());
        return receive_in_order(small_recording().meta, more);
    };
    REQUIRE(receive({"--frames", "12"}).status == 0);
    const std::string kept = ScratchFolder::content_of(out);

    const Ended more_outputs = receive({"--bbframes", folder / "b"});
    CHECK(more_outputs.status == 3);
    CHECK(says(more_outputs.err, "'bbframes' differs from the checkpoint (1, was 0)"));
    CHECK(ScratchFolder::content_of(out) == kept);

    std::filesystem::resize_file(out, 100);
    const Ended cut_off = receive({});
    CHECK(cut_off.status == 3);
    CHECK(says(cut_off.err, "holds 100 bytes"));
    CHECK(receive({"--checkpoint-every", "0"}).status == 2);

    const std::string damaged = folder.put("damaged", "{\"tidemill_checkpoint\":1");
    const Ended refused = receive_in_order(small_recording().meta, {"-o", out, "--checkpoint", damaged});
    CHECK(refused.status == 3);
    CHECK(says(refused.err, "is no checkpoint"));
}

}  // namespace tidemill::cli

#include "tidemill/apps/reception/other_reading.hpp"

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

std::size_t packets_of(const Ended& ended) {
    return Json::parse(ended.out)["ts_packets"].get<std::size_t>();
}

}  // namespace

TEST_CASE("rx: samples of which the first byte is missing are received from one component on") {
    const ScratchFolder folder;
    const std::string bytes = small_recording().bytes();
    const auto receive = [&](const std::string& name, const std::string& data) {
        return receive_in_order(folder.put(name, data), {"--rate", "2M", "-o", folder / "out.ts"});
    };
    const Ended whole = receive("a.ci8", bytes), late = receive("b.ci8", bytes.substr(1));
    REQUIRE_MESSAGE(whole.status == 0, whole.err);
    REQUIRE_MESSAGE(late.status == 0, late.err);
    CHECK(packets_of(late) == packets_of(whole));
    CHECK(says(late.out, "1 byte later"));
    CHECK_FALSE(says(whole.out, "later"));
}

TEST_CASE("rx: a byte that is missing in the middle is named, with its place and what receives the rest") {
    const ScratchFolder folder;
    const SmallRecording longer(dsp::SampleFormat::ci8, 120);
    std::string bytes = longer.bytes();
    const double lost_s = 0.3;
    bytes.erase(static_cast<std::size_t>(2 * 2e6 * lost_s) + 1, 1);
    const Ended ended =
        receive_in_order(folder.put("a.ci8", bytes), {"--rate", "2M", "-o", folder / "out.ts"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const std::string warnings = Json::parse(ended.out)["warnings"].dump();
    CHECK(says(warnings, "1 byte later there are frames"));
    CHECK(says(warnings, "tail -c +"));
}

TEST_CASE("rx: a --format that is not the samples' is suspected, and the right one named") {
    const ScratchFolder folder;
    const Ended ended = receive_in_order(folder.put("a.bin", small_recording().bytes()),
                                         {"--rate", "2M", "--format", "ci16", "-o", folder / "out.ts"});
    CHECK(ended.status == 1);
    CHECK(says(ended.err, "--format ci8"));
}

TEST_CASE("rx: of noise no other reading is found") {
    const ScratchFolder folder;
    std::string noise(2'000'000, '\0');
    std::uint32_t state = 1;
    for (char& byte : noise) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 26);
    const Ended ended =
        receive_in_order(folder.put("a.ci8", noise), {"--rate", "2M", "-o", folder / "out.ts"});
    CHECK(ended.status == 1);
    CHECK_FALSE(says(ended.err, "later"));
    CHECK_FALSE(says(ended.err, "give --format"));
}

}  // namespace tidemill::cli

// Receptions that keep samples of what they receive.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/io/recordings/digest_check.hpp"
#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

Json annotations_of(const std::string& meta) {
    return Json::parse(ScratchFolder::content_of(meta))["annotations"];
}

std::string packets_of(const std::string& recording, const ScratchFolder& folder,
                       std::vector<std::string> more = {}) {
    more.insert(more.end(), {"-o", folder / "out.ts"});
    const Ended ended = receive_in_order(recording, more);
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    return ScratchFolder::content_of(folder / "out.ts");
}

}  // namespace

TEST_CASE("rx --iq-out: samples that need no tuner are kept as they are, with lock and MODCOD beside them") {
    const ScratchFolder folder;
    const std::string kept = folder / "carrier.sigmf-meta";
    const std::string packets = packets_of(small_recording().meta, folder, {"--iq-out", kept});
    CHECK(ScratchFolder::content_of(folder / "carrier.sigmf-data") == small_recording().bytes());
    const Json annotations = annotations_of(kept);
    REQUIRE(annotations.size() == 2);
    CHECK(annotations[0]["core:label"] == "lock");
    CHECK(annotations[1]["core:label"] == "QPSK 8/9 short pilots");
    CHECK(annotations[0]["core:sample_count"].get<double>() > 0.7 * small_recording().samples);
    CHECK(io::check_digest(io::open_recording(kept)).empty());
    CHECK(packets_of(kept, folder) == packets);
}

TEST_CASE("rx --iq-out: a carrier beside the middle is kept tuned, and is received again from there") {
    const ScratchFolder folder;
    const std::string kept = folder / "carrier.sigmf-meta";
    const std::string shifted = folder / "shifted.sigmf-meta";
    REQUIRE(
        run_program({"dvbs2", "channel", small_recording().meta, "-o", shifted, "--cfo", "150e3"}).status ==
        0);
    const std::string packets =
        packets_of(shifted, folder, {"--symbol-rate", "1M", "--offset", "150k", "--iq-out", kept});
    const io::Recording recording = io::open_recording(kept);
    CHECK(recording.format == dsp::SampleFormat::cf32);
    CHECK(recording.sample_rate_hz == 2e6);
    CHECK(packets_of(kept, folder) == packets);
}

TEST_CASE(
    "rx --keep-iq-around-loss: a dropout leaves a recording of what was there, and the disk is no reason to "
    "end") {
    const ScratchFolder folder;
    const std::string holed = folder / "holed.sigmf-meta";
    REQUIRE(
        run_program({"dvbs2", "channel", small_recording().meta, "-o", holed, "--dropout", "120000,60000"})
            .status == 0);
    const std::string losses = folder / "losses";
    std::filesystem::create_directory(losses);
    const Ended ended = receive_in_order(
        holed, {"--keep-iq-around-loss", "10ms", "--keep-folder", losses, "--keep-limit", "1MB"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json around = Json::parse(ended.out)["iq"]["around_loss"];
    CHECK(around["losses"].get<int>() >= 1);
    std::size_t recordings = 0;
    for (const auto& file : std::filesystem::directory_iterator(losses)) {
        if (file.path().extension() != ".sigmf-meta") continue;
        ++recordings;
        CHECK(annotations_of(file.path())[0]["core:label"] == "loss of lock");
        const io::Recording recording = io::open_recording(file.path());
        CHECK(recording.samples > 20000);
        CHECK(recording.samples <= 45000);
    }
    CHECK(recordings == around["recordings"]);
    const Ended full =
        receive_in_order(small_recording().meta, {"-o", folder / "out.ts", "--iq-out", "/dev/full"});
    CHECK(full.status == 1);
    CHECK(says(full.err, "No space left"));
    CHECK(ScratchFolder::content_of(folder / "out.ts").size() > 188 * 300);
}

TEST_CASE("rx --iq-out: what cannot be is refused") {
    const std::string& meta = small_recording().meta;
    const auto refused = [&](const std::vector<std::string>& more) {
        const Ended ended = receive_in_order(meta, more);
        CHECK(ended.status == 2);
        return ended.err;
    };
    CHECK(says(refused({"--iq-out", "-"}), "--iq-out"));
    CHECK(says(refused({"--keep-limit", "2GB"}), "--keep-iq-around-loss"));
    CHECK(says(refused({"--keep-iq-around-loss", "1s", "--keep-limit", "2"}), "like 2GB"));
    CHECK(says(refused({"--keep-iq-around-loss", "1s", "--keep-limit", "10kB"}), "--keep-limit"));
    CHECK(says(refused({"--iq-out", meta}), "choose another"));
}

}  // namespace tidemill::cli

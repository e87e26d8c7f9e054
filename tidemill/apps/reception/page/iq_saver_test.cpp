#include "tidemill/apps/reception/page/iq_saver.hpp"

#include <filesystem>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/io/recordings/digest_check.hpp"
#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::cli {
namespace {

io::SigmfMetadata samples() {
    io::SigmfMetadata samples;
    samples.format = dsp::SampleFormat::ci8;
    samples.sample_rate_hz = 1000;
    samples.center_frequency_hz = 741.5e6;
    return samples;
}

std::vector<std::filesystem::path> recordings_in(const ScratchFolder& folder) {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder / ""))
        if (entry.path().extension() == ".sigmf-meta") found.push_back(entry.path());
    return found;
}

}  // namespace

TEST_CASE("iq saver: two seconds from the wish on, as a recording that can be read") {
    const ScratchFolder folder;
    IqSaver saver(folder / "", samples());
    const std::vector<std::byte> before(500, std::byte{1});
    const std::vector<std::byte> block(300, std::byte{2});
    saver.take(before);
    CHECK(saver.save().status == 202);
    CHECK(saver.save().status == 409);
    for (int i = 0; i < 20; ++i) saver.take(block);
    while (saver.save().status == 409) {
    }
    REQUIRE(recordings_in(folder).size() == 1);
    const io::Recording recording = io::open_recording(recordings_in(folder)[0], {});
    CHECK(recording.samples == 2000);
    CHECK(recording.sample_rate_hz == 1000.0);
    CHECK(recording.center_frequency_hz == 741.5e6);
    CHECK(io::check_digest(recording).empty());
    CHECK(ScratchFolder::content_of(recording.data_path) == std::string(4000, '\2'));
}

TEST_CASE("iq saver: there are never more than a few") {
    const ScratchFolder folder;
    for (std::size_t i = 0; i < IqSaver::kMostRecordings; ++i)
        folder.put(fmt::format("iq-{}.sigmf-meta", i), "");
    IqSaver saver(folder / "", samples());
    CHECK(saver.save().status == 507);
}

}  // namespace tidemill::cli

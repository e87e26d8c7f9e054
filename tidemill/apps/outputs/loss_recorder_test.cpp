#include "tidemill/apps/outputs/loss_recorder.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/recordings/digest_check.hpp"
#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::cli {
namespace {

// Two bytes a sample, 1000 of them a second: each sample is its number.
io::SigmfMetadata thousand_a_second() {
    io::SigmfMetadata samples;
    samples.format = dsp::SampleFormat::ci8;
    samples.sample_rate_hz = 1000;
    samples.center_frequency_hz = 741.5e6;
    return samples;
}

class Samples {
  public:
    explicit Samples(LossRecorder& recorder) : recorder_(recorder) {}

    void take(std::size_t count, bool locked) {
        for (std::size_t done = 0; done < count; done += 100) {
            std::vector<std::byte> block;
            for (std::size_t i = 0; i < 100; ++i, ++number_) {
                block.push_back(static_cast<std::byte>(number_ >> 8));
                block.push_back(static_cast<std::byte>(number_));
            }
            if (std::exchange(was_locked_, locked) && !locked) recorder_.lost();
            recorder_.take(block);
        }
    }

  private:
    LossRecorder& recorder_;
    std::size_t number_ = 0;
    bool was_locked_ = false;
};

std::vector<std::size_t> numbers_in(const std::string& data) {
    std::vector<std::size_t> numbers;
    for (std::size_t at = 0; at + 1 < data.size(); at += 2)
        numbers.push_back(static_cast<std::size_t>(static_cast<unsigned char>(data[at]) << 8 |
                                                   static_cast<unsigned char>(data[at + 1])));
    return numbers;
}

std::vector<std::filesystem::path> recordings_in(const ScratchFolder& folder) {
    std::vector<std::filesystem::path> all;
    for (const auto& file : std::filesystem::directory_iterator(folder / ""))
        if (file.path().extension() == ".sigmf-data") all.push_back(file.path());
    std::ranges::sort(all, {}, [](const auto& path) { return std::pair(path.string().size(), path); });
    return all;
}

LossOptions options_for(const ScratchFolder& folder, std::uint64_t most_bytes = 1'000'000) {
    return {.seconds = 1, .most_bytes = most_bytes, .folder = (folder / "").string()};
}

}  // namespace

TEST_CASE("loss recorder: a second before and after a loss of lock, as a recording with a mark") {
    for (const bool live : {false, true}) {
        CAPTURE(live);
        const ScratchFolder folder;
        LossRecorder recorder(options_for(folder), thousand_a_second(), live);
        Samples samples(recorder);
        samples.take(500, false);  // no lock yet: no loss
        samples.take(2500, true);
        samples.take(3000, false);
        recorder.close();
        CHECK(recorder.losses() == 1);
        const auto files = recordings_in(folder);
        REQUIRE(files.size() == 1);
        const auto numbers = numbers_in(ScratchFolder::content_of(files[0]));
        CHECK(numbers.size() == 2000);
        CHECK(numbers.front() == 2000);
        CHECK(numbers.back() == 3999);
        const io::Recording recording = io::open_recording(files[0]);
        CHECK(recording.center_frequency_hz == 741.5e6);
        CHECK(io::check_digest(recording).empty());
        auto meta = files[0];
        const auto json =
            nlohmann::json::parse(ScratchFolder::content_of(meta.replace_extension(".sigmf-meta")));
        CHECK(json["annotations"][0]["core:label"] == "loss of lock");
        CHECK(json["annotations"][0]["core:sample_start"] == 1000);
    }
}

TEST_CASE("loss recorder: a loss soon after another makes the recording longer") {
    const ScratchFolder folder;
    LossRecorder recorder(options_for(folder), thousand_a_second(), false);
    Samples samples(recorder);
    samples.take(2000, true);
    samples.take(500, false);
    samples.take(300, true);
    samples.take(2000, false);
    recorder.close();
    const auto files = recordings_in(folder);
    REQUIRE(files.size() == 1);
    CHECK(recorder.losses() == 2);
    CHECK(numbers_in(ScratchFolder::content_of(files[0])).size() == 1000 + 800 + 1000);
}

TEST_CASE("loss recorder: the oldest recordings go, and never another file") {
    const ScratchFolder folder;
    folder.put("loss.txt", std::string(100000, 'x'));
    folder.put("loss.20200101T000000Z.sigmf-data", std::string(9000, 'x'));
    LossRecorder recorder(options_for(folder, 20000), thousand_a_second(), false);
    Samples samples(recorder);
    for (int loss = 0; loss < 5; ++loss) {
        samples.take(1500, true);
        samples.take(1500, false);
    }
    recorder.close();
    CHECK(recorder.files() == 5);
    CHECK(recorder.files_removed() > 2);
    CHECK_FALSE(std::filesystem::exists(folder / "loss.20200101T000000Z.sigmf-data"));
    CHECK(ScratchFolder::content_of(folder / "loss.txt").size() == 100000);
    std::uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder / ""))
        if (file.path().extension() != ".txt") bytes += file.file_size();
    CHECK(bytes <= 20000);
}

TEST_CASE("loss recorder: what fits into no limit is refused") {
    const ScratchFolder folder;
    CHECK_THROWS_AS(LossRecorder(options_for(folder, 5000), thousand_a_second(), false), WrongUsage);
    LossOptions long_ones = options_for(folder, 1'000'000'000'000);
    long_ones.seconds = 1e6;
    CHECK_THROWS_AS(LossRecorder(long_ones, thousand_a_second(), false), WrongUsage);
    LossOptions nowhere = options_for(folder);
    nowhere.folder = folder / "nowhere";
    CHECK_THROWS_AS(LossRecorder(nowhere, thousand_a_second(), false), JobFailed);
}

}  // namespace tidemill::cli

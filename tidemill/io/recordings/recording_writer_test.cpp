#include "tidemill/io/recordings/recording_writer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/files/sha512.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/quantize.hpp"
#include "tidemill/io/recordings/digest_check.hpp"
#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::io {
namespace {

using dsp::Iq;
using dsp::SampleFormat;

template <typename Integer>
std::array<int, 2> quantized(Iq sample, SampleFormat format, std::uint64_t expected_limited) {
    std::array<Integer, 2> pair{};
    CHECK(quantize({&sample, 1}, 1.0F, format, std::as_writable_bytes(std::span(pair))) == expected_limited);
    return {pair[0], pair[1]};
}

}  // namespace

TEST_CASE("quantize: floating point is scaled, sample by sample") {
    std::vector<Iq> samples;
    for (int i = 0; i < 9001; ++i)
        samples.emplace_back(static_cast<float>(i) / 7, static_cast<float>(-i) / 3);
    std::vector<std::complex<float>> single(samples.size());
    std::vector<std::complex<double>> twice(samples.size());
    quantize(samples, 0.3F, SampleFormat::cf32, std::as_writable_bytes(std::span(single)));
    quantize(samples, 0.3F, SampleFormat::cf64, std::as_writable_bytes(std::span(twice)));
    for (std::size_t i = 0; i < samples.size(); ++i) {
        REQUIRE(single[i] == 0.3F * samples[i]);
        REQUIRE(twice[i] == std::complex<double>(0.3F * samples[i]));
    }
}

TEST_CASE("quantize: bytes that are not aligned become the same, over the borders of pieces") {
    std::vector<Iq> samples;
    for (int i = 0; i < 9001; ++i)
        samples.emplace_back(static_cast<float>(i) / 8000, static_cast<float>(-i) / 9000);
    for (const auto format :
         {SampleFormat::cf32, SampleFormat::cf64, SampleFormat::ci16, SampleFormat::ci8}) {
        const std::size_t bytes = samples.size() * dsp::bytes_per_sample(format);
        std::vector<std::byte> aligned(bytes), other(bytes + 1);
        const std::uint64_t limited = quantize(samples, 0.9F, format, aligned);
        CHECK(quantize(samples, 0.9F, format, std::span(other).subspan(1)) == limited);
        CHECK(std::ranges::equal(std::span(other).subspan(1), aligned));
    }
}

TEST_CASE("quantize: full scale is the largest value, and what is beyond it is limited and counted") {
    using Pair = std::array<int, 2>;
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInf = std::numeric_limits<float>::infinity();
    CHECK(quantized<std::int8_t>({1.0F, -1.0F}, SampleFormat::ci8, 0) == Pair{127, -127});
    CHECK(quantized<std::int8_t>({0.5F / 127, 1.6F / 127}, SampleFormat::ci8, 0) == Pair{0, 2});
    CHECK(quantized<std::int8_t>({1.1F, 0.0F}, SampleFormat::ci8, 1) == Pair{127, 0});
    CHECK(quantized<std::int16_t>({1.0F, -1.0F}, SampleFormat::ci16, 0) == Pair{32767, -32767});
    CHECK(quantized<std::int16_t>({kNan, -kInf}, SampleFormat::ci16, 1) == Pair{0, -32767});
    CHECK(quantized<std::uint8_t>({1.0F, -1.0F}, SampleFormat::cu8, 0) == Pair{255, 0});
    CHECK(quantized<std::uint8_t>({-3.0F, 0.1F / 127}, SampleFormat::cu8, 1) == Pair{0, 128});
}

TEST_CASE("writer: a SigMF recording is read back with its rate, samples and digest") {
    const ScratchFolder folder;
    SigmfMetadata description;
    description.format = SampleFormat::ci16;
    description.sample_rate_hz = 2e6;
    RecordingWriter writer(folder / "r.sigmf-meta", description, 2.0F);
    const std::array<Iq, 3> samples = {Iq{0.25F, 0}, Iq{0, -0.5F}, Iq{0.6F, 0}};
    writer.write(samples);
    writer.write(std::span(samples).first(1));
    writer.close();
    CHECK(writer.samples() == 4);
    CHECK(writer.limited_samples() == 1);
    const auto recording = open_recording(folder / "r");
    CHECK(recording.samples == 4);
    CHECK(recording.sample_rate_hz == 2e6);
    if (!Sha512::is_available()) {
        MESSAGE("no digest: no libcrypto");
        return;
    }
    CHECK(recording.sha512.size() == 128);
    CHECK(check_digest(recording).empty());
}

TEST_CASE(
    "writer: a recording that was there stays whole until the first sample, and then loses its metadata") {
    const ScratchFolder folder;
    const auto data = folder.put("r.sigmf-data", "old");
    const auto meta = folder.put("r.sigmf-meta", "{}");
    { const RecordingWriter refused(folder / "r", {}, 1.0F); }
    CHECK(ScratchFolder::content_of(data) == "old");
    CHECK(ScratchFolder::content_of(meta) == "{}");
    RecordingWriter interrupted(folder / "r", {}, 1.0F);
    const Iq sample{1.0F, -3.5F};
    interrupted.write({&sample, 1});
    CHECK(ScratchFolder::content_of(meta).empty());
}

TEST_CASE("writer: a raw extension gives samples alone, and float samples keep their bits") {
    const ScratchFolder folder;
    RecordingWriter writer(folder / "r.cf32", {}, 1.0F);
    const Iq sample{1.0F, -3.5F};
    writer.write({&sample, 1});
    writer.close();
    CHECK(ScratchFolder::content_of(folder / "r.cf32") ==
          std::string(reinterpret_cast<const char*>(&sample), sizeof(sample)));
    CHECK(!std::filesystem::exists(folder / "r.sigmf-meta"));
}

TEST_CASE("writer: an extension that promises another format is refused") {
    const ScratchFolder folder;
    CHECK_THROWS_WITH_AS(RecordingWriter(folder / "r.ci8", {}, 1.0F), doctest::Contains("promises ci8"),
                         IoError);
}

TEST_CASE("writer: the name tells how samples are stored, and one that does not is refused") {
    using enum SampleFormat;
    CHECK(stored_as("r.cf32", {}).format == cf32);
    CHECK(stored_as("r.cs16", ci16).raw);
    CHECK(!stored_as("r.sigmf-data", {}).raw);
    CHECK(stored_as("r", {}).format == ci8);
    CHECK(stored_as("-", cf64).format == cf64);
    CHECK(stored_as("/dev/full", {}).raw);
    for (const char* name : {"", "r.mp3", "r.sigmf", "folder/"})
        CHECK_THROWS_WITH_AS(stored_as(name, {}), doctest::Contains("does not give the format"), IoError);
    const ScratchFolder folder;
    CHECK_THROWS_WITH_AS(stored_as(folder / ".", {}), doctest::Contains("it is a folder"), IoError);
}

TEST_CASE("writer: a folder that does not exist is an error with its path") {
    CHECK_THROWS_WITH_AS(RecordingWriter("/nowhere/r.cf32", {}, 1.0F), doctest::Contains("/nowhere/r.cf32"),
                         IoError);
}

TEST_CASE("quantize: rounding adds the noise that is named beforehand") {
    std::mt19937 random(7);
    std::normal_distribution<float> gaussian(0, 0.70710678F);
    std::vector<dsp::Iq> samples(20'000);
    for (dsp::Iq& sample : samples) sample = {gaussian(random), gaussian(random)};
    for (const auto& [format, rms] : {std::pair{dsp::SampleFormat::ci8, 0.1},
                                      {dsp::SampleFormat::ci8, 0.01},
                                      {dsp::SampleFormat::cu8, 0.02},
                                      {dsp::SampleFormat::ci16, 0.001},
                                      {dsp::SampleFormat::ci16_be, 0.0002}}) {
        CAPTURE(static_cast<int>(format));
        std::vector<std::byte> bytes(samples.size() * dsp::bytes_per_sample(format));
        quantize(samples, static_cast<float>(rms), format, bytes);
        std::vector<dsp::Iq> rounded(samples.size());
        dsp::convert_samples(format, bytes, rounded);
        double signal = 0, cross = 0, power = 0;
        for (std::size_t n = 0; n < samples.size(); ++n) {
            signal += std::norm(samples[n]);
            cross += (samples[n] * std::conj(rounded[n])).real();
            power += std::norm(rounded[n]);
        }
        // The noise is left where the best multiple of the signal has been taken out.
        const double snr_db = 10 * std::log10(cross * cross / signal / (power - cross * cross / signal));
        CHECK(snr_db == doctest::Approx(rounding_snr_db(rms, format)).epsilon(0.03));
    }
    CHECK(std::isinf(rounding_snr_db(1e-6, dsp::SampleFormat::cf32)));
}

}  // namespace tidemill::io

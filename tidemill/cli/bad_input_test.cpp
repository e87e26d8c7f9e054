#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

std::string as_bytes(const std::vector<dsp::Iq>& samples) {
    std::string bytes(samples.size() * sizeof(dsp::Iq), '\0');
    std::memcpy(bytes.data(), samples.data(), bytes.size());
    return bytes;
}

void check_failed(const Ended& ended, int status, std::string_view message) {
    INFO(ended.err);
    CHECK(ended.status == status);
    CHECK(says(ended.err, message));
}

// Writes other data, other metadata or both under the recording's name.
std::string spoiled(const ScratchFolder& folder, const std::string& data, const std::string& metadata) {
    folder.put("spoiled.sigmf-data", data);
    return folder.put("spoiled.sigmf-meta", metadata);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("rx: a recording that is not there, empty or no recording at all is unusable input") {
    const ScratchFolder folder;
    check_failed(receive_json(folder / "nothing.sigmf-meta"), 3, "nothing.sigmf-meta");
    check_failed(receive_json(folder.put("empty.cf32", "")), 3, "empty");
    check_failed(receive_json(folder.put("half.cf32", "abc")), 3, "not one sample");
    check_failed(receive_json(folder.put("text.txt", "hello")), 3, "format");
    check_failed(receive_json(folder.put("a.sigmf", "hello")), 3, "archive");
    check_failed(receive_json("/dev"), 3, "/dev");
}

TEST_CASE("rx: malformed metadata are unusable input, and the message names the file") {
    const ScratchFolder folder;
    const SmallRecording& good = small_recording();
    const std::string text = good.metadata();
    const std::string deep(200000, '[');
    for (const std::string& bad :
         {std::string(), std::string("{"), text.substr(0, text.size() / 2), deep, std::string("[]"),
          std::string("{\"global\": 3}"), std::string("\xff\xfe\0", 3), replaced(text, "\"ci8\"", "\"ci13\""),
          replaced(text, "\"ci8\"", "8")}) {
        CAPTURE(bad.substr(0, 40));
        check_failed(receive_json(spoiled(folder, good.bytes(), bad)), 3, "spoiled.sigmf-meta");
    }
}

TEST_CASE("rx: an odd or truncated file gives what is there, and says what is missing") {
    const ScratchFolder folder;
    const SmallRecording& good = small_recording();
    const std::string half = good.bytes().substr(0, good.bytes().size() / 2 | 1);
    const Ended ended = receive_in_order(spoiled(folder, half, good.metadata()),
                                         {"-o", folder / "half.ts", "--check-digest"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json json = Json::parse(ended.out);
    CHECK(json["losses"]["trailing_bytes"] == 1);
    CHECK(json["warnings"].dump().find("SHA-512") != std::string::npos);
    const std::string out = ScratchFolder::content_of(folder / "half.ts");
    CHECK(out.size() > good.packets.size() / 3);
    CHECK(good.packets.find(out) != std::string::npos);
}

TEST_CASE("rx: metadata that do not fit the data end without a crash or invented packets") {
    const ScratchFolder folder;
    const SmallRecording& good = small_recording();
    const std::string other_format = replaced(good.metadata(), "\"ci8\"", "\"cf32_le\"");
    check_failed(receive_in_order(spoiled(folder, good.bytes(), other_format)), 1, "found");
    const Ended by_hand =
        run_program({"dvbs2", "rx", good.meta, "--format", "cf32", "--executor", "sequence"});
    check_failed(by_hand, 1, "warning: the samples are read as cf32_le, the metadata say ci8");
    const std::string no_rate = replaced(good.metadata(), "core:sample_rate", "core:simple_rate");
    check_failed(receive_in_order(spoiled(folder, good.bytes(), no_rate)), 2, "give --sample-rate");
}

TEST_CASE("rx: silence, noise and a constant are no signal") {
    const ScratchFolder folder;
    std::vector<dsp::Iq> samples(200000);
    const std::vector<std::string> rate{"--rate", "2e6"};
    check_failed(receive_json(folder.put("silence.cf32", as_bytes(samples)), rate), 1,
                 "silence.cf32: all samples are 0");
    std::ranges::fill(samples, dsp::Iq{0.5F, 0.5F});
    check_failed(receive_json(folder.put("constant.cf32", as_bytes(samples)), rate), 1,
                 "all samples have one value, 0.5 and 0.5 of full scale");
    check_failed(receive_json(folder.put("full.ci8", std::string(200000, '\x7f')), rate), 1,
                 "100 % of the samples are at the ends of their range: record with less gain");
    for (std::size_t n = 0; n < samples.size(); ++n) samples[n] = 0.2F * dsp::gaussian_noise_at(3, n);
    check_failed(receive_json(folder.put("noise.cf32", as_bytes(samples)), rate), 1, "tidemill dvbs2 scan");
    CHECK(receive_json(folder.put("one.cf32", as_bytes({dsp::Iq{1, 0}})), rate).status == 1);
}

TEST_CASE(
    "rx: samples far beyond what single precision processes are told with their level, the rest is "
    "received") {
    const SmallRecording made(dsp::SampleFormat::cf32);
    const std::string bytes = made.bytes();
    std::vector<dsp::Iq> samples(bytes.size() / sizeof(dsp::Iq));
    std::memcpy(samples.data(), bytes.data(), bytes.size());
    const ScratchFolder folder;
    const auto at_level = [&](float gain) {
        std::vector<dsp::Iq> scaled = samples;
        for (dsp::Iq& sample : scaled) sample *= gain;
        return folder.put("level.cf32", as_bytes(scaled));
    };
    const std::vector<std::string> rate{"--rate", "2e6"};
    for (const auto& [gain, words] :
         {std::pair(1e30F, "around 1e+29, and 1e-19 to 1e+09 is what is processed"),
          {1e-30F, "around 1e-31, and 1e-19 to 1e+09 is what is processed"}}) {
        const std::string recording = at_level(gain);
        check_failed(receive_in_order(recording, rate), 1, words);
        check_failed(receive_in_order(recording, {"--rate", "2e6", "--symbol-rate", "auto"}), 1, words);
        check_failed(run_program({"dvbs2", "scan", recording, "--rate", "2e6"}), 1, words);
        check_failed(run_program({"dvbs2", "channel", recording, "--rate", "2e6", "-o", folder / "out.cf32"}),
                     1, words);
    }
    for (const float gain : {1e-18F, 1e9F}) {
        CAPTURE(gain);
        const Ended ended = receive_in_order(at_level(gain), rate);
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        CHECK(Json::parse(ended.out)["frames_bad"] == 0);
    }
}

TEST_CASE("rx: samples that are no numbers are counted, the rest is received") {
    const SmallRecording made(dsp::SampleFormat::cf32);
    std::string bytes = made.bytes();
    const float bad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
    for (std::size_t i = 0; i < 100; ++i) {
        std::memcpy(bytes.data() + bytes.size() / 2 + 8 * i, bad, sizeof(bad));
    }
    const ScratchFolder folder;
    const Ended some = receive_in_order(folder.put("some.cf32", bytes), {"--sample-rate", "2e6"});
    REQUIRE_MESSAGE(some.status == 0, some.err);
    const Json json = Json::parse(some.out);
    CHECK(json["losses"]["samples_not_finite"] >= 100);
    CHECK(json["frames"].get<int>() - json["frames_bad"].get<int>() >= 37);
    const std::vector<dsp::Iq> nothing_else(100000, dsp::Iq{bad[0], bad[1]});
    check_failed(receive_in_order(folder.put("all.cf32", as_bytes(nothing_else)), {"--rate", "2e6"}), 1,
                 "100 % of the samples are no numbers");
}

TEST_CASE("rx: a wrong symbol or sample rate fails and says what to check") {
    const std::string& recording = small_recording().meta;
    for (const std::string rate : {"3e5", "5e5", "9e5"}) {
        CAPTURE(rate);
        check_failed(receive_in_order(recording, {"--symbol-rate", rate}), 1, "--symbol-rate");
    }
    const Ended ended = receive_in_order(recording, {"--sample-rate", "3e6", "--symbol-rate", "1e6"});
    check_failed(ended, 1, "--symbol-rate");
    check_failed(receive_in_order(recording, {"--gold", "5"}), 1, "--gold");
}

TEST_CASE("rx: an output that cannot be written is a failed job") {
    const std::string& recording = small_recording().meta;
    for (const char* executor : {"sequence", "pipeline"}) {
        const std::vector<std::string> quick{"--executor", executor, "--profile-seconds", "0.01"};
        const auto with_output = [&](const std::string& path) {
            auto more = quick;
            more.insert(more.end(), {"-o", path});
            return receive_json(recording, more);
        };
        check_failed(with_output("/nowhere/out.ts"), 1, "/nowhere/out.ts");
        check_failed(with_output("/dev/full"), 1, "No space left");
    }
}

TEST_CASE("rx: a reader that goes away ends the run with a message") {
    const SmallRecording longer(dsp::SampleFormat::ci8, 160);  // more packets than a pipe holds
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{"--executor", "sequence"}, {"--profile-seconds", "0.01"}}) {
        std::vector<std::string> arguments{"dvbs2", "rx", longer.meta, "-o", "-"};
        arguments.insert(arguments.end(), how.begin(), how.end());
        Program program(arguments);
        program.close_output();
        check_failed(program.finish(), 1, "the program that read this stream has ended");
    }
}

TEST_CASE("rx: the recording itself is never written over") {
    const ScratchFolder folder;
    const SmallRecording& good = small_recording();
    const std::string meta = spoiled(folder, good.bytes(), good.metadata());
    check_failed(receive_in_order(meta, {"-o", folder / "spoiled.sigmf-data"}), 2, "choose another");
    CHECK(ScratchFolder::content_of(folder / "spoiled.sigmf-data") == good.bytes());
}

TEST_CASE("rx: impossible settings are wrong usage") {
    const std::string& recording = small_recording().meta;
    const std::vector<std::vector<std::string>> wrong{
        {"--cores", "big=4000"},  {"--cores", "big"},         {"--cores", "huge=1"},
        {"--rolloff", "7"},       {"--rolloff", "nan"},       {"--gold", "-1"},
        {"--gold", "262143"},     {"--symbol-rate", "0"},     {"--symbol-rate", "1e9"},
        {"--symbol-rate", "nan"}, {"--symbol-rate", "inf"},   {"--symbol-rate", "1.7e6"},
        {"--sample-rate", "nan"}, {"--format", "ci13"},       {"--executor", "magic"},
        {"--no-such-option"},     {"--profile-seconds", "-1"}};
    for (const auto& options : wrong) {
        CAPTURE(options.back());
        const Ended ended = receive_json(recording, options);
        CHECK(ended.status == 2);
        CHECK_FALSE(ended.err.empty());
        CHECK(ended.out.empty());
    }
    check_failed(receive_in_order(recording, {"--cores", "big=1"}), 2, "leave cores out");
    CHECK(run_program({}).status == 2);
    CHECK(run_program({"dvbs3"}).status == 2);
    CHECK(run_program({"dvbs2", "rx"}).status == 2);
}

}  // namespace tidemill::cli

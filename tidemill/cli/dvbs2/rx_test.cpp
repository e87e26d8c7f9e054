#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"
#include "tidemill/testing/test_places.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

bool is_null_packet(std::string_view packet) {
    return packet[0] == 0x47 && (packet[1] & 0x1f) == 0x1f && static_cast<unsigned char>(packet[2]) == 0xff;
}

// A schedule file of the receiver, for two stages of which the second has the given kind of core.
std::string schedule_text(const Json& profile, const std::string& kind) {
    Json names[2] = {Json::array(), Json::array()};
    for (const Json& task : profile["tasks"]) {
        names[names[0].size() < 6 ? 0 : 1].push_back(task["name"]);
    }
    Json stages = Json::array();
    for (const Json& some : names) {
        stages.push_back({{"tasks", some.size()}, {"threads", 1}, {"core-type", kind}, {"task-names", some}});
    }
    return Json{{"period-us", 5000.0}, {"schedule", stages}}.dump();
}

Json profile_json() {
    const Ended profiled =
        run_program({"dvbs2", "profile", small_recording().meta, "--seconds", "0.01", "--json"});
    REQUIRE_MESSAGE(profiled.status == 0, profiled.err);
    return Json::parse(profiled.out);
}

}  // namespace

TEST_CASE("rx --adapt: rescheduling in mid-stream changes no packet") {
    const ScratchFolder folder;
    const std::string& recording = small_recording().meta;
    const std::vector<std::string> quick{"-o", folder / "out.ts", "--profile-seconds", "0.01"};
    const auto received = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = quick;
        all.insert(all.end(), more.begin(), more.end());
        const Ended ended = receive_json(recording, all);
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        CHECK(Json::parse(ended.out)["adaptations"].is_array());
        return ScratchFolder::content_of(folder / "out.ts");
    };
    const std::string usual = received({});
    CHECK(received({"--adapt", "--adapt-every", "0.01", "--adapt-threshold", "0"}) == usual);
    const Ended in_order = receive_json(recording, {"--adapt", "--executor", "sequence"});
    CHECK(in_order.status == 2);
    CHECK(says(in_order.err, "adapt needs a profile"));
}

TEST_CASE("rx: the bundled recording comes out exactly, then null packets, with every key in its JSON") {
    const ScratchFolder folder;
    const Ended ended =
        receive_json(internal::data_folder() + "/demo.sigmf-meta",
                     {"-o", folder / "video.ts", "--profile-seconds", "0.2", "--executor", "pipeline"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const std::string sent = ScratchFolder::content_of(internal::data_folder() + "/demo.ts");
    const std::string out = ScratchFolder::content_of(folder / "video.ts");
    REQUIRE(out.size() >= sent.size());
    CHECK(out.substr(0, sent.size()) == sent);
    for (std::size_t at = sent.size(); at < out.size(); at += io::kTsPacketBytes) {
        CHECK(is_null_packet(std::string_view(out).substr(at, io::kTsPacketBytes)));
    }
    const Json json = Json::parse(ended.out);
    for (const char* key : {"modulation", "code_rate", "modcod", "frame", "pilots", "frames", "frames_bad",
                            "ts_packets", "lock_frames", "esn0_db", "info_mbps", "elapsed_s", "total_s",
                            "start_s", "schedule", "predicted_mbps"}) {
        CAPTURE(key);
        REQUIRE(json.contains(key));
        CHECK_FALSE(json[key].is_null());
    }
    CHECK(json["modulation"] == "QPSK");
    CHECK(json["code_rate"] == "3/4");
    CHECK(json["frame"] == "normal");
    CHECK(json["pilots"] == true);
    CHECK(json["frames_bad"] == 0);
    CHECK(json["ts_packets"] == out.size() / io::kTsPacketBytes);
    CHECK(json["predicted_mbps"] > 0);
    CHECK(json["start_s"] > 0);  // the profile is waited for
    CHECK(json["total_s"] > json["elapsed_s"]);
    CHECK(json["warnings"].empty());
}

TEST_CASE("rx: whatever is chosen by itself gives the same bytes as in order, and says what it was") {
    const ScratchFolder folder;
    const SmallRecording& recording = small_recording();
    const Ended ended = receive_json(recording.meta, {"--fresh", "-o", folder / "auto.ts"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(receive_in_order(recording.meta, {"-o", folder / "in_order.ts"}).status == 0);
    CHECK(ScratchFolder::content_of(folder / "auto.ts") == ScratchFolder::content_of(folder / "in_order.ts"));
    const Json json = Json::parse(ended.out);
    CHECK(json.contains("choice"));
    CHECK(json.contains("forecast"));
    CHECK(json["executor"] != "auto");
}

TEST_CASE("rx: profile, schedule and run by hand give what one command gives") {
    const ScratchFolder folder;
    const SmallRecording& recording = small_recording();
    const std::string profile = folder / "profile.json";
    const std::string schedule = folder / "schedule.json";
    CHECK(run_program({"profile", recording.meta, "--seconds", "0.01", "-o", profile}).status == 0);
    CHECK(run_program({"schedule", profile, "--cores", "big=1", "-o", schedule}).status == 0);
    const Ended ended = receive_json(recording.meta, {"--schedule", schedule, "-o", folder / "by_hand.ts"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(receive_in_order(recording.meta, {"-o", folder / "in_order.ts"}).status == 0);
    const std::string by_hand = ScratchFolder::content_of(folder / "by_hand.ts");
    CHECK(by_hand == ScratchFolder::content_of(folder / "in_order.ts"));
    CHECK(recording.packets.find(by_hand) != std::string::npos);
    const Json json = Json::parse(ended.out);
    CHECK(json["schedule"]["stages"][0]["task_count"] == 13);
    CHECK(json["executor"] == "pipeline");
    CHECK(json["predicted_mbps"] > 0);
}

TEST_CASE("rx: a mixed stage changes no packet") {
    const ScratchFolder folder;
    const SmallRecording& recording = small_recording();
    const Json tasks = profile_json()["tasks"];
    Json stages = Json::array();
    for (const Json& task : tasks) {
        stages.push_back({{"tasks", 1}, {"threads", 1}, {"core-type", "big"}, {"pinning-policy", "loose"}});
        if (!task["replicable"].get<bool>()) continue;
        stages.back().erase("core-type");
        stages.back()["threads"] = 2;
        stages.back()["word"] = {"p-core:1", "e-core:1", "p-core:1"};
    }
    const std::string file = folder.put("mixed.json", Json{{"schedule", stages}}.dump());
    const Ended ended = receive_json(recording.meta, {"--schedule", file, "-o", folder / "mixed.ts"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(Json::parse(ended.out)["schedule"].dump().find("\"word\"") != std::string::npos);
    CHECK(receive_in_order(recording.meta, {"-o", folder / "in_order.ts"}).status == 0);
    CHECK(ScratchFolder::content_of(folder / "mixed.ts") ==
          ScratchFolder::content_of(folder / "in_order.ts"));
}

TEST_CASE("rx: a schedule is refused when it is for another graph or for cores that are not there") {
    const ScratchFolder folder;
    const std::string& recording = small_recording().meta;
    const auto with = [&](const std::string& text) {
        return receive_json(recording, {"--schedule", folder.put("schedule.json", text)});
    };
    Json profile = profile_json();
    CHECK(with(schedule_text(profile, "big")).status == 0);
    const Ended no_such_kind = with(schedule_text(profile, "tiny"));
    CHECK(no_such_kind.status == 3);
    CHECK(says(no_such_kind.err, "tiny"));
    profile["tasks"][2]["name"] = "fir.run";
    const Ended other_name = with(schedule_text(profile, "big"));
    CHECK(other_name.status == 3);
    CHECK(says(other_name.err, "'fir.run', here it is 'coarse.follow'"));
    profile["tasks"].erase(2);
    const Ended fewer = with(schedule_text(profile, "big"));
    CHECK(fewer.status == 3);
    CHECK(says(fewer.err, "is for 12 tasks, the graph has 13"));
    CHECK(with("{").status == 3);
    CHECK(with("").status == 3);
    CHECK(receive_json(recording, {"--schedule", folder / "missing.json"}).status == 3);
}

TEST_CASE("rx: an interrupt ends a long run cleanly: what was received is kept and reported") {
    const SmallRecording longer(dsp::SampleFormat::ci8, 160);
    for (const std::vector<std::string>& how : {std::vector<std::string>{"--executor", "sequence"},
                                                {"--executor", "dynamic", "--policy", "oldest"},
                                                {"--profile-seconds", "0.01"}}) {
        std::vector<std::string> arguments{"dvbs2", "rx", longer.meta, "-o", "-", "--json"};
        arguments.insert(arguments.end(), how.begin(), how.end());
        Program program(arguments);
        program.read_output(io::kTsPacketBytes);  // it runs, and cannot end before the pipe is read
        program.interrupt();
        const Ended ended = program.finish();
        INFO(ended.err);
        CHECK(ended.status == 0);
        CHECK(longer.packets.find(ended.out) != std::string::npos);
        const Json json = Json::parse(ended.err.substr(ended.err.find('{')));
        // A run that chooses its executor may be ended before it has.
        if (how[0] == "--executor") CHECK(json["executor"] == how[1]);
        CHECK(json["ts_packets"] == ended.out.size() / io::kTsPacketBytes);
        CHECK(json["frames_bad"] == 0);
    }
}

TEST_CASE("tx, channel, rx: packets sent come out of a noisy recording") {
    const ScratchFolder folder;
    const Ended sent = run_program({"dvbs2", "tx", "--random", "300", "-o", folder / "clean.sigmf-meta",
                                    "--packets-output", folder / "sent.ts", "--modcod", "8PSK 2/3", "--frame",
                                    "short", "--pilots", "--format", "ci16", "--json"});
    REQUIRE_MESSAGE(sent.status == 0, sent.err);
    CHECK(Json::parse(sent.out)["packets"] == 300);
    const Ended noisy = run_program(
        {"dvbs2", "channel", folder / "clean.sigmf-meta", "-o", folder / "noisy.sigmf-meta", "--esn0", "9",
         "--cfo", "30e3", "--ppm", "-25", "--delay", "0.4", "--lead", "9000", "--tail", "9000", "--invert"});
    REQUIRE_MESSAGE(noisy.status == 0, noisy.err);
    const Ended ended = receive_in_order(folder / "noisy.sigmf-meta", {"-o", folder / "out.ts"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const std::string packets = ScratchFolder::content_of(folder / "sent.ts");
    const std::string out = ScratchFolder::content_of(folder / "out.ts");
    CHECK(packets.ends_with(out));
    CHECK(out.size() > packets.size() * 9 / 10);
    const Json json = Json::parse(ended.out);
    CHECK(json["modulation"] == "8PSK");
    CHECK(json["inverted_spectrum"] == true);
    CHECK(json["frequency_offset_hz"].get<double>() == doctest::Approx(-30e3).epsilon(0.002));
    CHECK(json["clock_offset_ppm"].get<double>() == doctest::Approx(25).epsilon(0.2));
    CHECK(json["esn0_db"].get<double>() == doctest::Approx(9).epsilon(0.03));
}

TEST_CASE("tx: what cannot be sent is refused") {
    const ScratchFolder folder;
    const std::string output = folder / "out.sigmf-meta";
    const auto refused = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"dvbs2", "tx", "-o", output});
        return run_program(more).status;
    };
    CHECK(refused({}) == 2);
    CHECK(refused({"--random", "9", "--modcod", "QPSK 7/8"}) == 2);
    CHECK(refused({"--random", "9", "--modcod", "QPSK 9/10", "--frame", "short"}) == 2);
    CHECK(refused({"--random", "9", "--rolloff", "0.5"}) == 2);
    CHECK(refused({"--random", "9", "--samples-per-symbol", "0"}) == 2);
    CHECK(refused({folder / "missing.ts"}) == 3);
    CHECK(refused({folder.put("text.ts", "no transport stream")}) == 3);
    CHECK(run_program({"dvbs2", "tx", "--random", "9", "-o", "/nowhere/out"}).status == 1);
}

}  // namespace tidemill::cli

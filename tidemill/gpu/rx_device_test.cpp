#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/gpu/device/testing/devices_for_tests.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

// The receiver in three stages, of which the second decodes LDPC on a device in batches of four.
std::string schedule_on(const std::string& device_kind, const Json& profile) {
    Json names[3] = {Json::array(), Json::array(), Json::array()};
    for (const Json& task : profile["tasks"]) {
        const bool is_ldpc = task["name"] == "ldpc.decode";
        names[is_ldpc ? 1 : names[1].empty() ? 0 : 2].push_back(task["name"]);
    }
    Json stages = Json::array();
    for (const Json& some : names)
        stages.push_back(
            {{"tasks", some.size()}, {"threads", 1}, {"core-type", "p-core"}, {"task-names", some}});
    stages[1].update({{"core-type", device_kind}, {"pinning-policy", "loose"}, {"batch", 4}});
    return Json{{"period-us", 5000.0}, {"schedule", stages}}.dump();
}

Json profile_json(const std::vector<std::string>& more) {
    std::vector<std::string> all{"dvbs2", "profile", small_recording().meta, "--seconds", "0.01", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    const Ended profiled = run_program(all);
    REQUIRE_MESSAGE(profiled.status == 0, profiled.err);
    return Json::parse(profiled.out);
}

}  // namespace

TEST_CASE("rx: by a schedule with a stage on a device the same packets come out, decoded there in batches") {
    const ScratchFolder folder;
    const FoundDevices found = device::devices_for_tests();
    const std::string kind = found.devices.empty() ? "gpu" : found.devices[0].info.kind;
    const std::string schedule = folder.put("schedule.json", schedule_on(kind, profile_json({})));
    const Ended refused = receive_json(small_recording().meta, {"--schedule", schedule});
    CHECK(refused.status == 2);
    CHECK(says(refused.err, "it has a stage on a device: name that with --device"));
    if (found.devices.empty()) return;
    const Ended on_host = receive_json(small_recording().meta, {"-o", folder / "host.ts"});
    const Ended ended =
        receive_json(small_recording().meta, {"--schedule", schedule, "--device", found.devices[0].info.id,
                                              "--batch-wait-us", "1e6", "-o", folder / "device.ts"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(ScratchFolder::content_of(folder / "device.ts") == ScratchFolder::content_of(folder / "host.ts"));
    const Json device = Json::parse(ended.out)["device"];
    CHECK(device["frames"] > 0);
    CHECK(device["batches"] < device["frames"]);
    CHECK(device["frames_on_host"] == 0);
}

TEST_CASE("rx: with a device and no schedule the forecast decides, and says why") {
    const FoundDevices found = device::devices_for_tests();
    if (found.devices.empty()) return;
    const ScratchFolder folder;
    const std::string& id = found.devices[0].info.id;
    const Ended ended = receive_json(small_recording().meta,
                                     {"--device", id, "--profile-seconds", "0.01", "-o", folder / "out.ts"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json device = Json::parse(ended.out)["device"];
    const std::string why = device["why"];
    CHECK(says(ended.err, why));
    const bool is_left = why.starts_with("the device is not worth it here: a frame of ldpc.decode takes ");
    CHECK(is_left != why.starts_with("ldpc.decode runs on "));
    CHECK((device["frames"] == 0) == is_left);
}

TEST_CASE("rx: the memory policy is what calibrate has found, while device and driver are the same") {
    const ScratchFolder folder;
    const std::string path = folder / "model.json";
    const Ended calibrated =
        run_program({"calibrate", "--seconds", "0.001", "-o", path, "--energy-meter", "none"});
    REQUIRE_MESSAGE(calibrated.status == 0, calibrated.err);
    Json model = Json::parse(ScratchFolder::content_of(path));
    const FoundDevices found = device::devices_for_tests();
    CHECK(model.contains("memory") == !found.devices.empty());
    if (found.devices.empty()) return;
    const std::string id = found.devices[0].info.id;
    CHECK(model["memory"].size() == 3 * found.devices.size());
    const auto memory_with = [&](const std::string& policy, const std::string& device) {
        Json memory = Json::array();
        memory.push_back({{"device", device}, {"bytes", 1 << 20}, {"policy", policy}});
        model["memory"] = memory;
        const Json report =
            Json::parse(receive_json(small_recording().meta,
                                     {"--device", id, "--model", folder.put("known.json", model.dump()),
                                      "--profile-seconds", "0.01", "-o", folder / "out.ts"})
                            .out);
        return report["device"]["memory"].get<std::string>();
    };
    const std::string known = model["memory"][0]["device"];
    CHECK(known.starts_with(id + " "));
    CHECK(memory_with("copy", known) == "copy");
    CHECK(memory_with("mapped", known) == "mapped");
    CHECK(memory_with("none of these", known) != "");
    CHECK(memory_with("resident", id + " another") != "resident");
}

TEST_CASE("profile: a device is one more kind, on which only LDPC runs, and schedule takes it as a core") {
    const FoundDevices found = device::devices_for_tests();
    if (found.devices.empty()) return;
    const ScratchFolder folder;
    const std::string kind = found.devices[0].info.kind;
    const Json profile = profile_json({"--device", found.devices[0].info.id});
    for (const Json& task : profile["tasks"]) {
        CAPTURE(task["name"]);
        CHECK(task["weight"][kind].is_null() == (task["name"] != "ldpc.decode"));
        CHECK(task.contains("batches") == (task["name"] == "ldpc.decode"));
        if (!task.contains("batches")) continue;
        const Json& alone = task["batches"][kind]["alone"];
        CHECK(alone["frame_bytes"] > 16200);
        CHECK(alone["kernel"]["frame_us"].get<double>() + alone["kernel"]["batch_us"].get<double>() > 0);
    }
    const Ended scheduled = run_program(
        {"schedule", folder.put("profile.json", profile.dump()), "--cores", "big=2," + kind + "=1"});
    REQUIRE_MESSAGE(scheduled.status == 0, scheduled.err);
    CHECK((says(scheduled.out, "the device is not worth it here") ||
           says(scheduled.out, "ldpc.decode runs on ")));
}

}  // namespace tidemill::cli

#include "tidemill/bridge/known_tasks.hpp"

#include <filesystem>

#include <doctest/doctest.h>

#include "tidemill/bridge/bridge_error.hpp"
#include "tidemill/platform/internal/temporary_folder.hpp"

namespace tidemill::bridge {

TEST_CASE("known tasks: a profile's weights are what its tasks are known to take") {
    const testing::TemporaryFolder folder;
    const std::filesystem::path path = folder.root() + "/profile.json";
    folder.write("profile.json", R"({"cores": {"big": 1, "little": 3}, "tasks": [
        {"name": "a", "replicable": true, "weight": {"big": 52, "little": 60}},
        {"name": "b", "replicable": false, "weight": {"big": 7, "little": null}}]})");
    const FactorFile file = read_known_tasks(path);
    CHECK(file.cores == Platform{.big = 1, .little = 3});
    CHECK(file.find("a")->replicable);
    CHECK(file.find("a")->kinds.at("little") == KnownTime{60});
    CHECK(file.find("b")->kinds.size() == 1);
    write_factor_file(file, path);
    CHECK(read_known_tasks(path) == file);
}

TEST_CASE("known tasks: what is neither a factor file nor a profile is refused with its place") {
    const testing::TemporaryFolder folder;
    const auto refused = [&](const char* text, const char* why) {
        folder.write("wrong.json", text);
        CHECK_THROWS_WITH_AS(read_known_tasks(folder.root() + "/wrong.json"), doctest::Contains(why),
                             BridgeError);
    };
    refused(R"({"known_tasks": []})", "version");
    refused(R"({"tasks": []})", "no tasks");
    refused(R"([1, 2])", "expected an object");
    refused("nothing", "not valid JSON");
}

}  // namespace tidemill::bridge

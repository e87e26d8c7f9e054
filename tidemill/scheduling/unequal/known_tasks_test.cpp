#include "tidemill/scheduling/unequal/known_tasks.hpp"

#include <filesystem>

#include <doctest/doctest.h>

#include "tidemill/machine/testing/temporary_folder.hpp"
#include "tidemill/scheduling/unequal/bridge_error.hpp"

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

TEST_CASE("known tasks: a profile comes from what ran, per source frame and in its order") {
    FactorFile file{.machine = "a board", .cores = {.big = 2, .little = 4}};
    file.tasks = {{"source", {{"big", {10, 800}}, {"little", {30, 90}}}},
                  {"decode", {{"big", {40.0004, 400}}, {"little", {100, 9}}}, true, 0.5}};
    const Profile profile = profile_of(file, "factors.json");
    CHECK(profile.kinds == std::vector<std::string>{"big", "little"});
    CHECK(profile.cores == file.cores);
    CHECK(profile.tasks[0] == ChainTask{"source", false, {10, 30}});
    CHECK(profile.tasks[1] == ChainTask{"decode", true, {20, 50}});
    CHECK(profile.measured_by == "remembered: a board");
    CHECK(profile.warnings.empty());
}

TEST_CASE("known tasks: what never ran on a kind is estimated by the others, with a warning") {
    FactorFile file{.cores = {.big = 2, .little = 4, .others = {{"mid", 1}}}};
    file.tasks = {{"a", {{"big", {10}}, {"little", {20}}}},
                  {"b", {{"big", {10}}, {"little", {80}}}},
                  {"c", {{"little", {12}}}}};
    const Profile profile = profile_of(file, "factors.json");
    CHECK(profile.kinds == std::vector<std::string>{"big", "little"});
    CHECK(profile.tasks[2].weight_us == std::vector<double>{3, 12});  // 4 times faster: the mean of 2 and 8
    CHECK(profile.cores.count("mid") == 0);
    CHECK(
        profile.warnings ==
        std::vector<std::string>{"no task ran on kind 'mid', which is left out",
                                 "c never ran on kind 'big': its time there is an estimate, as usual between "
                                 "'little' and that"});
}

TEST_CASE("known tasks: what cannot be estimated is no profile") {
    const auto refused = [](std::vector<KnownTask> tasks, const char* why) {
        FactorFile file{.cores = {.big = 1, .little = 1}};
        file.tasks = std::move(tasks);
        CHECK_THROWS_WITH_AS(profile_of(file, "factors.json"), doctest::Contains(why), BridgeError);
    };
    refused({}, "factors.json: knows no task");
    refused({{"a", {{"big", {1}}}}, {"b", {}}}, "factors.json: b never ran");
    refused({{"a", {{"big", {1}}}}, {"b", {{"little", {1}}}}},
            "a never ran on kind 'little', and no other task shows how times there are related");
}

}  // namespace tidemill::bridge

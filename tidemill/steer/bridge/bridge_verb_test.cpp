#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/testing/program.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;

Ended run_bridge(std::vector<std::string> arguments) {
    const ScratchFolder folder;
    arguments.insert(arguments.begin(), {"bridge", "run", "--name", fmt::format("refused-{}", getpid()),
                                         "--journal", (folder / "journal.json").string()});
    return run_program(arguments);
}

}  // namespace

TEST_CASE("bridge: wrong wishes are refused with a sentence each") {
    const auto refused = [](const std::vector<std::string>& arguments, int status, const char* why) {
        const Ended ended = run_bridge(arguments);
        CAPTURE(ended.err);
        CHECK(ended.status == status);
        CHECK(says(ended.err, why));
    };
    refused({"--pid", "1", "--", "true"}, 2, "not several of them");
    refused({"--pid", "0"}, 2, "--pid 0");
    refused({"--interval", "1"}, 2, "--interval 1");
    refused({"true"}, 2, "true: one word too many");
    refused({"--kinds", "big=0", "--pid", "1"}, 1, "all cores are of one kind");
    refused({"--kinds", "big=0,little=1", "--slower", "tiny=2"}, 2,
            "another kind than the first of big, little");
    refused({"--kinds", "big=0,little=1", "--slower", "big=2"}, 2, "another kind than the first");
    refused({"--slower", "little=0.5"}, 2, "a core is only made slower");
    refused({"--counters", "all"}, 2, "choose auto, none or replay:FILE");
    refused({"--factors", "/nowhere/known.json"}, 3, "/nowhere/known.json");
    refused({"--kinds", "big=0,little=1", "--cgroup", "/nowhere"}, 1, "/nowhere: is no control group");
    refused({"--kinds", "big=0,little=1", "--pid", "4194304"}, 1, "there is no process 4194304");
}

TEST_CASE("bridge run: a command that ends at once has run, and how it ended is told") {
    if (std::thread::hardware_concurrency() < 2) return;  // there are no two kinds
    const auto run = [](std::vector<std::string> command) {
        command.insert(command.begin(), {"--kinds", "big=0,little=1", "--slower", "little=2", "--"});
        return run_bridge(command);
    };
    CHECK(run({"true"}).status == 0);
    const Ended failed = run({"sh", "-c", "exit 7"});
    CHECK(failed.status == 1);
    CHECK(says(failed.err, "sh ended with exit status 7"));
    CHECK(says(run({"/nowhere/command"}).err, "/nowhere/command cannot be started: No such file"));
}

TEST_CASE("bridge status: where no daemon runs it says how to begin") {
    const Ended ended = run_program({"bridge", "status", "--name", fmt::format("nobody-{}", getpid())});
    CHECK(ended.status == 1);
    CHECK(says(ended.err, "begin with tidemill bridge run"));
}

}  // namespace tidemill::cli

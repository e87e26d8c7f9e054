#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/testing/program.hpp"
#include "tidemill/testing/shell.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;

/// Two real programs that spin, `compute` and `memory`, and a daemon of our own name on two made-up kinds.
class Spinning {
  public:
    Spinning() { folder_.put("slower.json", R"({"ratio": 1.2, "tasks": {"compute": {"ratio": 2.4}}})"); }

    /// Runs a script after both have begun; $compute and $memory are their numbers. The last ones to begin
    /// are on the cores that the script needs them on.
    int run(const std::string& script) const {
        return run_shell(fmt::format(R"(cd {0}; name=test-{1}; journal=$PWD/journal.json
ln -s /bin/sh compute; ln -s /bin/sh memory
bridge="$tidemill bridge run --name $name --journal $journal --kinds big=0,little=1 --slower little=slower.json"
bridge="$bridge --seconds 60"
status() {{ $tidemill bridge status --name $name "$@"; }}
until_status() {{ until status --json 2>/dev/null >status; grep -q "$1" status; do sleep 0.05; done; }}
allowed() {{ sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/$1/status; }}
./compute -c 'while :; do :; done' & compute=$!
./memory -c 'while :; do :; done' & memory=$!
trap 'kill -KILL $compute $memory $daemon 2>/dev/null' EXIT
before=$(allowed $compute)
misplace() {{
    taskset -pc 1 $compute; taskset -pc 0 $memory; sleep 0.1
    taskset -pc $before $compute; taskset -pc $before $memory
}}
# The system may have put both where they belong, or do so before the daemon looks.
until_confined() {{
    until status --json 2>/dev/null >status; grep -q '"confined": 2' status; do misplace >/dev/null; sleep 1; done
}}
# On a busy machine the first decision may be another one, and is mended.
until_at() {{
    for i in $(seq 300); do test "$(allowed $compute) $(allowed $memory) " = "$1 " && return; sleep 0.1; done
    return 1
    }}
{2})",
                                     (folder_ / "").string(), getpid(), script));
    }

    std::string content_of(const char* file) const { return ScratchFolder::content_of(folder_ / file); }

  private:
    ScratchFolder folder_;
};

bool has_two_processors() {
    if (std::thread::hardware_concurrency() >= 2) return true;
    MESSAGE("skipped: two kinds of cores need two processors");
    return false;
}

}  // namespace

TEST_CASE(
    "bridge run: real threads are steered, told of while it runs, and have their affinity back at its end") {
    if (!has_two_processors()) return;
    const Spinning spinning;
    CHECK(spinning.run("$bridge --pid $compute --pid $memory --verbose >out 2>err & daemon=$!\n"
                       "until_confined\n"
                       "until_at '0 1' || exit 10\n"
                       "status >text && status --metrics >metrics || exit 11\n"
                       "kill -TERM $daemon; wait $daemon || exit 12\n"
                       "test \"$(allowed $compute) $(allowed $memory)\" = \"$before $before\" || exit 13\n"
                       "status 2>gone; test $? = 1 || exit 14\n") == 0);
    INFO(spinning.content_of("err"));
    CHECK(says(spinning.content_of("text"), "compute.compute"));
    CHECK(says(spinning.content_of("metrics"), "tidemill_bridge_confined{kind=\"big\"} 1\n"));
    CHECK(says(spinning.content_of("out"), "2 threads of 2 processes"));
    CHECK(says(spinning.content_of("gone"), "no daemon steers this machine"));
    CHECK(says(spinning.content_of("journal.json"), "\"threads\": []"));
}

TEST_CASE("bridge run: after a kill -9 the next daemon restores what the first has left, children too") {
    if (!has_two_processors()) return;
    const Spinning spinning;
    CHECK(spinning.run(
              "$bridge --pid $compute --pid $memory >out 2>err & daemon=$!\n"
              "until_confined\n"
              "until_at '0 1' || exit 10\n"
              "kill -KILL $daemon; wait $daemon\n"
              "$bridge --pid $compute >again 2>said & daemon=$!; until_status up_s; kill $daemon; wait "
              "$daemon || exit 11\n"
              "test \"$(allowed $compute) $(allowed $memory)\" = \"$before $before\" || exit 12\n") == 0);
    CHECK(says(spinning.content_of("said"), "restored 2 threads that a killed daemon had left"));
}

TEST_CASE("bridge run: a dry run tells what it would do, and does nothing; a second daemon is refused") {
    if (!has_two_processors()) return;
    const Spinning spinning;
    CHECK(spinning.run("$bridge --pid $compute --pid $memory --dry-run --json >out 2>err & daemon=$!\n"
                       "until_status '\"dry_run\": true'\n"
                       "$bridge --pid $compute >second 2>refused; test $? = 1 || exit 10\n"
                       "kill -INT $daemon; wait $daemon\n"
                       "test \"$(allowed $compute) $(allowed $memory)\" = \"$before $before\" || exit 12\n"
                       "test ! -e $journal || exit 13\n") == 0);
    CHECK(says(spinning.content_of("refused"), "another daemon steers this machine already, process "));
}

TEST_CASE("bridge run: a command is followed with all that it begins, and its failure is the verb's") {
    if (!has_two_processors()) return;
    const Spinning spinning;
    CHECK(spinning.run(
              "$bridge -- sh -c 'for i in 1 2 3; do (timeout 0.4 ./compute -c \"while :; do :; done\"; :) & "
              "done; wait; exit 7' >out 2>err; test $? = 1 || exit 10\n"
              "$bridge -- /nowhere/command 2>missing; test $? = 1 || exit 11\n") == 0);
    CHECK(says(spinning.content_of("err"), "sh ended with exit status 7"));
    CHECK(says(spinning.content_of("missing"), "/nowhere/command cannot be started"));
}

}  // namespace tidemill::cli

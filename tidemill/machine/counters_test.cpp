#include "tidemill/machine/counters.hpp"

#include <atomic>
#include <barrier>
#include <cerrno>
#include <cmath>
#include <map>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/machine/internal/core_pmus.hpp"
#include "tidemill/machine/platform_error.hpp"
#include "tidemill/machine/testing/temporary_folder.hpp"

using namespace tidemill;
using doctest::Approx;
using tidemill::testing::TemporaryFolder;

namespace {

const std::string kDevices = "bus/event_source/devices/";

void write_intel_pmu(const TemporaryFolder& sys, const std::string& name, const std::string& type,
                     const std::string& cpus) {
    const std::string pmu = kDevices + name + "/";
    sys.write(pmu + "type", type);
    if (!cpus.empty()) sys.write(pmu + "cpus", cpus == "none" ? "" : cpus);
    sys.write(pmu + "format/event", "config:0-7");
    sys.write(pmu + "format/umask", "config:8-15");
    sys.write(pmu + "events/cpu-cycles", "event=0x3c");
    sys.write(pmu + "events/instructions", "event=0xc0");
    sys.write(pmu + "events/cache-misses", "event=0x2e,umask=0x41");
}

void write_arm_pmu(const TemporaryFolder& sys, const std::string& name, const std::string& type,
                   const std::string& cpus) {
    const std::string pmu = kDevices + name + "/";
    sys.write(pmu + "type", type);
    sys.write(pmu + "cpus", cpus);
    sys.write(pmu + "format/event", "config:0-15");
    sys.write(pmu + "events/cpu_cycles", "event=0x0011");
    sys.write(pmu + "events/inst_retired", "event=0x0008");
    sys.write(pmu + "events/l2d_cache_refill", "event=0x0017");
}

/// The kernel's answers to the reads of a group, in order.
using Answers = std::vector<std::vector<std::uint64_t>>;

/// A system in which the group of each PMU, by its type, gives these answers; others are refused with the
/// error.
struct MadeUpKernel {
    explicit MadeUpKernel(const TemporaryFolder& folder) : sys(folder) {}

    int open(const CounterEvent& event) {
        opened.push_back(event);
        if (const auto refusal = refused.find(event.config); refusal != refused.end()) {
            errno = refusal->second;
            return -1;
        }
        const std::string path = fmt::format("{}/group{}", sys.root(), event.type);
        std::ofstream file(path, std::ios::binary);
        for (const auto& answer : answers[event.type])
            file.write(reinterpret_cast<const char*>(answer.data()),
                       static_cast<std::streamsize>(answer.size() * sizeof(std::uint64_t)));
        file.close();
        return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    }
    CounterSystem system() {
        return {sys.root(), sys.root(), [this](const CounterEvent& event) { return open(event); }};
    }

    const TemporaryFolder& sys;
    std::map<std::uint32_t, Answers> answers{};
    std::map<std::uint64_t, int> refused{};
    std::vector<CounterEvent> opened{};
};

std::string reason_of(const CounterSystem& system) {
    const FoundCounters found = find_counters("auto", system);
    CHECK(found.counters == nullptr);
    return found.reason;
}

FoundCounters replay_of(const TemporaryFolder& folder, const std::string& lines) {
    folder.write("replay", replay_header() + lines);
    return find_counters("replay:" + folder.root() + "/replay");
}

void compute() {
    double sum = 0;
    for (int i = 0; i < 3'000'000; ++i) sum += std::sqrt(i);
    CHECK(sum > 0);
}

// Where the counters are clocks.
void check_time(const ThreadWork& work) {
    REQUIRE(work.on.size() == 1);
    CHECK(*work.on[0].cycles > 100'000);
    CHECK(*work.on[0].cycles == Approx(work.on[0].ran_ns).epsilon(0.1));
    CHECK_FALSE(work.on[0].last_level_misses);
}

}  // namespace

TEST_CASE("counters: the PMUs of cores are found with their cores and events, those of other parts are not") {
    const TemporaryFolder sys;
    write_intel_pmu(sys, "cpu_core", "4", "0-11");
    write_intel_pmu(sys, "cpu_atom", "10", "12-19");
    write_intel_pmu(sys, "cpu_lowpower", "11", "20-21");
    write_intel_pmu(sys, "uncore_imc_0", "20", "");
    const auto pmus = internal::core_pmus(sys.root());
    REQUIRE(pmus.size() == 3);
    CHECK(pmus[0].name == "cpu_atom");
    CHECK(pmus[0].type == 10);
    CHECK(pmus[0].cpus == std::vector{12, 13, 14, 15, 16, 17, 18, 19});
    CHECK(pmus[0].events[0] == 0x3c);
    CHECK(pmus[0].events[1] == 0xc0);
    CHECK(pmus[0].events[2] == 0x412e);
    CHECK(pmus[2].name == "cpu_lowpower");
}

TEST_CASE("counters: Arm's PMUs are one for each core type, with their own words for events") {
    const TemporaryFolder sys;
    write_arm_pmu(sys, "armv8_cortex_a55", "8", "0-3");
    write_arm_pmu(sys, "armv8_cortex_a76", "9", "4-7");
    const auto pmus = internal::core_pmus(sys.root());
    REQUIRE(pmus.size() == 2);
    CHECK(pmus[1].cpus == std::vector{4, 5, 6, 7});
    CHECK(pmus[1].events[2] == 0x17);
}

TEST_CASE("counters: a list of CPUs that makes no sense is refused with its path") {
    const TemporaryFolder sys;
    for (const char* bad : {"0-", "x", "-1", "0-99999999", "4,,5"}) {
        CAPTURE(bad);
        write_intel_pmu(sys, "cpu_core", "4", bad);
        CHECK_THROWS_WITH_AS(internal::core_pmus(sys.root()), doctest::Contains("cpu_core/cpus"),
                             PlatformError);
    }
}

TEST_CASE("counters: an event's words go where the PMU's format says, also in pieces") {
    const TemporaryFolder sys;
    sys.write("format/event", "config:0-7,32-35");
    sys.write("format/umask", "config:8-15");
    sys.write("format/inv", "config:23");
    sys.write("format/ldlat", "config1:0-15");
    sys.write("format/wrong", "config:60-64");
    const std::string format = sys.root() + "/format";
    CHECK(internal::event_number("event=0x164,umask=0x9", format) == 0x1'0000'0964);
    CHECK(internal::event_number("event=118,inv", format) == 0x80'0076);
    CHECK(internal::event_number("event=0xcd,ldlat=3", format) == std::nullopt);
    CHECK_THROWS_WITH_AS(internal::event_number("event=0x", format), doctest::Contains("not a number"),
                         PlatformError);
    CHECK_THROWS_WITH_AS(internal::event_number("wrong=1", format), doctest::Contains("no bits of 64"),
                         PlatformError);
    CHECK_THROWS_WITH_AS(internal::event_number("frontend=1", format), doctest::Contains("format/frontend"),
                         PlatformError);
    CHECK_THROWS_AS(internal::event_number("../type=1", format), PlatformError);
}

TEST_CASE("counters: a thread has one group for each core type, of events that are counted together") {
    const TemporaryFolder sys;
    write_intel_pmu(sys, "cpu_core", "4", "0-3");
    write_intel_pmu(sys, "cpu_atom", "10", "4-7");
    MadeUpKernel kernel(sys);
    kernel.answers[4] = {{3, 1000, 600, 3000, 6000, 30}, {3, 3000, 1600, 8000, 16000, 90}};
    kernel.answers[10] = {{3, 1000, 400, 800, 400, 40}, {3, 3000, 1400, 2800, 1400, 140}};
    const FoundCounters found = find_counters("auto", kernel.system());
    REQUIRE(found.counters != nullptr);
    CHECK(found.counters->name() == "cpu_atom, cpu_core");
    kernel.opened.clear();
    const auto thread = found.counters->of_thread(71);
    REQUIRE(kernel.opened.size() == 6);
    CHECK(kernel.opened[0].type == 10);
    CHECK(kernel.opened[0].group == -1);
    CHECK(kernel.opened[1].group >= 0);
    CHECK(kernel.opened[1].tid == 71);
    CHECK(kernel.opened[3].type == 4);
    CHECK(kernel.opened[3].group == -1);

    const CounterReading first = thread->read();
    const ThreadWork work = work_between(first, thread->read());
    CHECK(work.absent.empty());
    CHECK(work.counted_share == 1);
    REQUIRE(work.on.size() == 2);
    CHECK(work.on[0] == CoreTypeCounts{"cpu_atom", 1000, 2000, 1000, 100});
    CHECK(work.on[1] == CoreTypeCounts{"cpu_core", 1000, 5000, 10000, 60});
    CHECK_THROWS_WITH_AS(thread->read(), doctest::Contains("gives no counts"), PlatformError);
}

TEST_CASE("counters: what others had the counters for is scaled up, what another core type had is not") {
    // of 3000 ns, cpu_core had 1000, cpu_atom 500; the rest nobody counted
    const CounterReading look{3000, {{"cpu_core", 1000, 4000, 8000, 10}, {"cpu_atom", 500, 600, 300, {}}}};
    const ThreadWork work = work_between({}, look);
    CHECK(work.counted_share == Approx(0.5));
    CHECK(work.on[0] == CoreTypeCounts{"cpu_core", 2000, 8000, 16000, 20});
    CHECK(work.on[1] == CoreTypeCounts{"cpu_atom", 1000, 1200, 600, std::nullopt});
}

TEST_CASE("counters: what was never counted is absent, and so is what falls") {
    CHECK(work_between({}, {3000, {{"cpu", 0, 0, 0, 0}}}).absent == "others had the counters all the time");
    const CounterReading gap{.absent = "step 3 was not recorded"};
    CHECK(work_between(gap, {3000, {{"cpu", 3000, 1, 1, 1}}}).absent == "step 3 was not recorded");
    CHECK(work_between({1, {{"cpu", 1, 1, 1, 1}}}, gap).absent == "step 3 was not recorded");
    const ThreadWork fell = work_between({1, {{"cpu", 1, 9, 1, 1}}}, {2, {{"cpu", 2, 8, 3, {}}}});
    CHECK(fell.on[0] == CoreTypeCounts{"cpu", 1, std::nullopt, 2, std::nullopt});
}

TEST_CASE("counters: an event that a core type cannot count beside the others is absent") {
    const TemporaryFolder sys;
    write_intel_pmu(sys, "cpu", "4", "");
    MadeUpKernel kernel(sys);
    kernel.refused[0x412e] = ENOENT;
    kernel.answers[4] = {{2, 1000, 1000, 3000, 6000}};
    const FoundCounters found = find_counters("auto", kernel.system());
    REQUIRE(found.counters != nullptr);
    const ThreadWork work = work_between({}, found.counters->of_thread(0)->read());
    CHECK(work.on[0] == CoreTypeCounts{"cpu", 1000, 3000, 6000, std::nullopt});
}

TEST_CASE("counters: where there are none, it is said why") {
    const TemporaryFolder sys;
    MadeUpKernel kernel(sys);
    CHECK(reason_of(kernel.system()).ends_with("a virtual machine may have none"));
    write_intel_pmu(sys, "cpu_core", "4", "0-3");
    write_intel_pmu(sys, "cpu_atom", "10", "none");  // all of its cores are off line
    sys.write("sys/kernel/perf_event_paranoid", "4");
    kernel.refused[0x3c] = EACCES;
    CHECK(reason_of(kernel.system()) ==
          "Permission denied (kernel.perf_event_paranoid is 4: own threads need 2 or less, others' root or "
          "CAP_PERFMON)");
    kernel.refused[0x3c] = ENOENT;
    CHECK(reason_of(kernel.system()) == "cpu_core: No such file or directory");
    kernel.refused[0x3c] = EMFILE;
    CHECK(reason_of(kernel.system()).starts_with("Too many open files: raise the limit"));
    for (const CounterEvent& event : kernel.opened) CHECK(event.type == 4);
    CHECK(find_counters("none").reason == "not wanted");
    CHECK_THROWS_WITH_AS(find_counters("some"), doctest::Contains("choose auto, none or replay:FILE"),
                         PlatformError);
}

TEST_CASE("counters: the kernel's groups count a thread's processor time, of its own and of others") {
    // Hardware counters are not everywhere; the kernel's software events are groups, too.
    const TemporaryFolder sys;
    const std::string pmu = kDevices + "cpu/";
    sys.write(pmu + "type", "1");
    sys.write(pmu + "format/event", "config:0-63");
    sys.write(pmu + "events/cpu-cycles", "event=0x1");    // task-clock
    sys.write(pmu + "events/instructions", "event=0x0");  // cpu-clock
    const FoundCounters found = find_counters("auto", {.sys_root = sys.root()});
    if (!found.counters) {
        MESSAGE("skipped: " << found.reason);
        return;
    }
    std::barrier step(2);
    std::atomic<int> tid{0};
    std::thread other([&] {
        tid = static_cast<int>(gettid());
        step.arrive_and_wait();
        step.arrive_and_wait();  // it is counted now
        compute();
        step.arrive_and_wait();
    });
    step.arrive_and_wait();
    const auto counted = found.counters->of_thread(tid);
    const auto own = found.counters->of_thread(0);
    const CounterReading before = own->read();
    step.arrive_and_wait();
    compute();
    step.arrive_and_wait();
    check_time(work_between(before, own->read()));
    check_time(work_between({}, counted->read()));
    other.join();
    CHECK_THROWS_WITH_AS(found.counters->of_thread(1 << 30), doctest::Contains("No such process"),
                         PlatformError);
}

TEST_CASE("counters: a recorded thread is read back step by step; gaps are said, and absent") {
    const TemporaryFolder folder;
    const CounterReading first{1000.5, {{"cpu_core", 600, 3000, 6000, 30}, {"cpu_atom", 400, 1, {}, {}}}};
    const CounterReading third{3000, {{"cpu_core", 1600, 8000, 16000, 90}, {"cpu_atom", 1400, 5, {}, 2}}};
    const FoundCounters found = replay_of(
        folder, replay_lines(0, 71, first) + replay_lines(2, 71, third) + replay_lines(0, 72, first));
    REQUIRE(found.counters != nullptr);
    CHECK(found.warning.ends_with("replay: thread 71 lacks 1 of 3 steps, which are absent"));
    const auto thread = found.counters->of_thread(71);
    CHECK(thread->read() == first);
    CHECK(thread->read().absent.ends_with("thread 71: step 1 was not recorded"));
    CHECK(thread->read() == third);
    CHECK(thread->read().absent.ends_with("thread 71: the replay is over"));
    CHECK_THROWS_WITH_AS(found.counters->of_thread(73), doctest::Contains("thread 73 was not recorded"),
                         PlatformError);
}

TEST_CASE("counters: a replay that is none is refused with its line") {
    const TemporaryFolder folder;
    const auto refused = [&](const std::string& lines, const std::string& why) {
        CHECK_THROWS_WITH_AS(replay_of(folder, lines), doctest::Contains(why.c_str()), PlatformError);
    };
    refused("0 71 1000 cpu 1000 3 4\n", "replay:3: misses is missing");
    refused("0 71 1000 cpu 1000 3 4 5 6\n", "\"6\" is one word too many");
    refused("0 71 1000 cpu 1000 three 4 5\n", "cycles: \"three\" is not a number");
    refused("0 71 1000 cpu 1000 -3 4 5\n", "cycles: -3 is no count");
    refused("0 71 1000 cpu 1000 nan 4 5\n", "cycles: nan is no count");
    refused("0 71 1000 cpu 1 1 1 1\n0 71 2000 other 1 1 1 1\n", "replay:4: enabled_ns is one for all");
    refused("0 71 1000 cpu 1 1 1 1\n0 71 1000 cpu 1 1 1 1\n", "thread 71 has cpu twice in step 0");
    refused("999999999999 71 1000 cpu 1 1 1 1\n", "a replay has at most");
    refused("0 71 " + std::string(600, '9') + "\n", "a line is longer than");
    folder.write("replay", "step thread");
    CHECK_THROWS_WITH_AS(find_counters("replay:" + folder.root() + "/replay"),
                         doctest::Contains("is no replay of counters"), PlatformError);
    CHECK_THROWS_WITH_AS(find_counters("replay:/nowhere/replay"), doctest::Contains("No such file"),
                         PlatformError);
}

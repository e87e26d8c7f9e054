#include "tidemill/steer/linux_system.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/machine/thread_affinity.hpp"
#include "tidemill/steer/daemon.hpp"
#include "tidemill/steer/steer_error.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::steer {
namespace {

/// A child that waits for its end.
class Child {
  public:
    Child() : process_(fork()) {
        if (process_ == 0) {
            while (true) pause();
        }
    }
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    int process() const { return process_; }
    void end() {
        if (process_ <= 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        process_ = -1;
    }

  private:
    int process_;
};

/// A child with two threads that spin, and two hundred more that come and go; then it only spins.
class Busy {
  public:
    Busy() {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        process_ = fork();
        if (process_ == 0) be_busy(ends);
        close(ends[1]);
        output_ = ends[0];
        fcntl(output_, F_SETFL, O_NONBLOCK);
    }
    ~Busy() {
        close(output_);
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

    int process() const { return process_; }
    /// Whether threads still come.
    bool goes_on() const {
        char none = 0;
        return read(output_, &none, 1) != 0;  // its end is closed after the last one
    }

  private:
    static void spin(int turns) {
        for (int i = 0; i < turns; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    [[noreturn]] static void be_busy(const int (&ends)[2]) {
        close(ends[0]);
        std::vector<std::thread> spinning;
        for (int i = 0; i < 2; ++i)
            spinning.emplace_back([] {
                while (true) spin(1'000'000);
            });
        for (int i = 0; i < 200; ++i) std::thread([] { spin(1'000'000); }).join();
        close(ends[1]);
        while (true) pause();
    }

    int process_ = -1;
    int output_ = -1;
};

}  // namespace

TEST_CASE("linux system: a process and its thread are held, and speak of nobody else when they have ended") {
    const auto system = linux_system();
    Child child;
    const int number = child.process();
    CHECK(std::ranges::count(system->processes(), number) == 1);
    const auto process = system->hold(number);
    REQUIRE(process);
    CHECK(process->threads() == std::vector<int>{number});
    CHECK_FALSE(process->has_other_threads());
    const auto thread = process->hold(number);
    REQUIRE(thread);
    const auto facts = thread->facts();
    REQUIRE(facts);
    CHECK(facts->parent == getpid());
    CHECK(facts->is_ordinary());
    CHECK_FALSE(facts->is_kernel_thread);
    CHECK(facts->start_ticks <= system->now_ticks());
    CHECK(thread->times());
    child.end();
    CHECK(process->has_ended());
    CHECK_FALSE(thread->facts());
    CHECK_FALSE(thread->times());
    CHECK_FALSE(thread->affinity());
    CHECK(thread->set_affinity({0}) == Outcome::gone);
    CHECK_FALSE(process->hold(number));
    CHECK_FALSE(system->hold(number));
}

TEST_CASE("linux system: affinities are set and read, and sets that no system has are impossible") {
    const auto system = linux_system();
    const Child child;
    const auto thread = system->hold(child.process())->hold(child.process());
    const CpuSet before = affinity_of_thread(0);
    REQUIRE(!before.empty());
    CHECK(thread->set_affinity({before.front()}) == Outcome::done);
    CHECK(thread->affinity() == CpuSet{before.front()});
    CHECK(thread->set_affinity({65535}) == Outcome::impossible);
    CHECK(thread->set_affinity({1 << 20}) == Outcome::impossible);
    CHECK(thread->set_affinity({}) == Outcome::impossible);
    CHECK(thread->set_affinity(system->possible()) == Outcome::done);
    CHECK(is_within(before, *thread->affinity()));
}

TEST_CASE("linux system: a control group's processes are those of its folder and of the folders in it") {
    const auto system = linux_system();
    const ScratchFolder folder;
    CHECK_THROWS_WITH_AS(system->group(folder / ""), doctest::Contains("is no control group"), SteerError);
    folder.put("cgroup.procs", "12\n7\n");
    std::filesystem::create_directories(folder / "below");
    folder.put("below/cgroup.procs", "99\n");
    CHECK(system->group(folder / "") == std::vector<int>{12, 7, 99});
}

TEST_CASE("linux system: real threads that come and go are steered, and none is left where we put it") {
    const auto system = linux_system();
    const CpuSet usable = affinity_of_thread(0);
    if (usable.size() < 2) {
        MESSAGE("skipped: two kinds of cores need two processors");
        return;
    }
    const Busy busy;
    const ScratchFolder folder;
    Daemon daemon(*system, {{"big", {{usable[0]}}}, {"little", {{usable[1]}}, 2}},
                  {.processes = {busy.process()}},
                  {.look_every_s = 0.01, .decide_every_s = 0.01, .journal = folder / "journal.json"});
    for (int ticks = 0; ticks < 200 || busy.goes_on(); ++ticks) daemon.tick();
    CHECK(daemon.report().threads >= 3);
    daemon.end();
    const auto process = system->hold(busy.process());
    for (const int thread : process->threads())
        if (const auto held = process->hold(thread)) CHECK(held->affinity().value_or(usable) == usable);
}

TEST_CASE("linux system: new processes are noticed") {
    const auto system = linux_system();
    static_cast<void>(system->has_new_processes());
    const Child child;
    CHECK(system->has_new_processes());
    CHECK(!system->online().empty());
    CHECK(is_within(system->online(), system->possible()));
    CHECK(!system->boot_id().empty());
}

}  // namespace tidemill::steer

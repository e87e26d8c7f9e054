#include "tidemill/steer/linux_system.hpp"

#include <algorithm>
#include <csignal>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/platform/thread_affinity.hpp"

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

#include "tidemill/apps/running/watch.hpp"

#include <chrono>
#include <csignal>
#include <stop_token>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tidemill::cli {

namespace {

// In a child, since the last of its signals may end it: 0 where two at once were one wish, and heard.
int hears_two_at_once_then_one_more() {
    const Listening listening({});
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, nullptr);
    std::raise(SIGINT);
    std::raise(SIGTERM);
    sigprocmask(SIG_UNBLOCK, &both, nullptr);  // now they come, one inside the other
    if (!listening.wants_end()) return 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    std::raise(SIGTERM);  // ends the child
    return 2;
}

}  // namespace

TEST_CASE("watch: signals that come at once are one wish, a later one ends the program") {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(hears_two_at_once_then_one_more());
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("watch: inside another program its stop ends the job, and signals stay as they were") {
    const auto before = std::signal(SIGTERM, SIG_IGN);
    {
        std::stop_source outside;
        int lines = 0;
        const Watch watch([&] { return ++lines, std::string(); }, outside.get_token());
        CHECK_FALSE(watch.interrupted());
        std::raise(SIGTERM);  // ignored still
        CHECK_FALSE(watch.interrupted());
        outside.request_stop();
        CHECK(watch.interrupted());
        CHECK(watch.stop().stop_requested());
        CHECK(lines == 0);
    }
    const bool is_ignored = std::signal(SIGTERM, before) == SIG_IGN;
    CHECK(is_ignored);
}

TEST_CASE("watch: what was stopped before it began is interrupted at once") {
    std::stop_source outside;
    outside.request_stop();
    const Watch watch([] { return std::string(); }, outside.get_token());
    CHECK(watch.interrupted());
}

}  // namespace tidemill::cli

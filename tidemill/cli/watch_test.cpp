#include "tidemill/cli/watch.hpp"

#include <csignal>
#include <stop_token>
#include <string>

#include <doctest/doctest.h>

namespace tidemill::cli {

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

#include "tidemill/steer/status_socket.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/steer/steer_error.hpp"

namespace tidemill::steer {
namespace {

std::string own_name() {
    return fmt::format("tidemill-test-{}", getpid());
}

}  // namespace

TEST_CASE(
    "status socket: a second daemon of a name is refused with the number of the first, and later let in") {
    const std::string name = own_name();
    std::optional<StatusSocket> first(name);
    CHECK_THROWS_WITH_AS(StatusSocket{name}, doctest::Contains(fmt::format("process {}", getpid()).c_str()),
                         SteerError);
    CHECK_NOTHROW(StatusSocket{name + "-other"});
    first.reset();
    CHECK_NOTHROW(StatusSocket{name});
}

TEST_CASE("status socket: who asks is answered in the form it wants; where nobody is that is said") {
    const std::string name = own_name();
    CHECK_THROWS_WITH_AS(ask_status(name, StatusForm::text), doctest::Contains("no daemon steers"),
                         SteerError);
    StatusSocket socket(name);
    std::atomic<bool> done = false;
    std::string answers;
    std::jthread asking([&] {
        for (const StatusForm form : {StatusForm::text, StatusForm::json, StatusForm::metrics})
            answers += ask_status(name, form);
        done = true;
    });
    while (!done) {
        socket.answer([](StatusForm form) { return std::string(1000, static_cast<char>(form)); });
        std::this_thread::yield();
    }
    asking.join();
    CHECK(answers == std::string(1000, 't') + std::string(1000, 'j') + std::string(1000, 'm'));
}

TEST_CASE("status socket: names that no socket can have are refused") {
    CHECK_THROWS_AS(StatusSocket{""}, SteerError);
    CHECK_THROWS_AS(StatusSocket{std::string(200, 'a')}, SteerError);
    CHECK_THROWS_AS(StatusSocket{"../elsewhere"}, SteerError);
    CHECK_THROWS_AS(StatusSocket{".."}, SteerError);
}

TEST_CASE(
    "status socket: an answer longer than the system's buffers arrives whole, one without end is an error") {
    const std::string name = own_name();
    StatusSocket socket(name);
    for (const std::size_t bytes : {std::size_t{900'000}, std::size_t{2} << 20}) {
        CAPTURE(bytes);
        std::atomic<bool> done = false;
        std::size_t got = 0;
        std::jthread asking([&] {
            try {
                got = ask_status(name, StatusForm::text).size();
            } catch (const SteerError&) {
            }
            done = true;
        });
        while (!done) {
            socket.answer([&](StatusForm) { return std::string(bytes, 'x'); });
            std::this_thread::yield();
        }
        asking.join();
        CHECK(got == (bytes < 1 << 20 ? bytes : 0));
    }
}

TEST_CASE("status socket: what a killed daemon has left is no obstacle, and others cannot write beside it") {
    const std::string name = own_name();
    const auto socket_file = daemon_folder() / (name + ".socket");
    { std::ofstream(socket_file) << "left"; }
    { const StatusSocket socket(name); }
    CHECK_FALSE(std::filesystem::exists(socket_file));
    struct stat folder {};
    REQUIRE(stat(daemon_folder().c_str(), &folder) == 0);
    CHECK(folder.st_uid == geteuid());
    CHECK((folder.st_mode & (S_IWGRP | S_IWOTH)) == 0);
}

}  // namespace tidemill::steer

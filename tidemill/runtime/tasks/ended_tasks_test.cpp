#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <pthread.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/tasks/tasks.hpp"
#include "tidemill/runtime/testing/child_process.hpp"

using namespace tidemill;

namespace {

struct Silent : std::exception {
    const char* what() const noexcept override { return nullptr; }
};

/// Message of what wait() throws; empty: nothing.
std::string error_of(Tasks& tasks) {
    const auto failure = internal::thrown_by([&] { tasks.wait(); });
    return failure ? message_of(failure) : "";
}

}  // namespace

TEST_CASE("what a task or the function that observes it throws is the task's error, whatever its what()") {
    for (const bool helps : {true, false}) {
        for (const bool observed : {true, false}) {
            CAPTURE(helps);
            CAPTURE(observed);
            TasksOptions options{.workers = 3, .program_helps = helps};
            if (observed) {
                options.observe = [](const ObservedTask& task) {
                    if (task.number == 20) throw Silent();
                };
            }
            Tasks tasks(options);
            for (int n = 0; n < 100; ++n) {
                tasks.spawn({}, [n, observed] {
                    if (n == 20 && !observed) throw Silent();
                });
            }
            const std::string error = error_of(tasks);
            CHECK(error.starts_with("task 20 spawned at"));
            CHECK(error.find("what() is null") != std::string::npos);
        }
    }
}

TEST_CASE("a task that ends its thread fails, and the others and later ones run") {
    Tasks tasks({.workers = 3, .program_helps = false});
    std::atomic<int> ran = 0;
    int value = 0;
    for (int n = 0; n < 100; ++n) {
        tasks.spawn({updates(value)}, [&, n] {
            if (n == 20) pthread_exit(nullptr);
            ++ran;
        });
    }
    CHECK(error_of(tasks).find("it ended its thread") != std::string::npos);
    CHECK(ran == 20);
    for (int n = 0; n < 100; ++n) tasks.spawn({}, [&] { ++ran; });
    CHECK(error_of(tasks).empty());
    CHECK(ran == 120);
}

#ifndef __SANITIZE_THREAD__

TEST_CASE("a forked process can leave Tasks, and is refused to spawn") {
    auto tasks = std::make_unique<Tasks>(TasksOptions{.workers = 3});
    tasks->spawn({}, [] {});
    tasks->wait();
    CHECK(internal::status_of_child([&] { tasks.reset(); }) == 0);
    CHECK(internal::status_of_child([&] {
              const auto failure = internal::thrown_by([&] { tasks->spawn({}, [] {}); });
              _exit(failure ? 3 : 0);
          }) == 3);
}

TEST_CASE("exit() in a task ends the process with its status, also where Tasks is static") {
    for (const bool helps : {true, false}) {
        CHECK(internal::status_of_child([helps] {
                  static Tasks tasks({.workers = 3, .program_helps = helps});
                  for (int n = 0; n < 100; ++n)
                      tasks.spawn({}, [n] {
                          if (n == 20) std::exit(7);
                      });
                  tasks.wait();
              }) == 7);
    }
}

#endif

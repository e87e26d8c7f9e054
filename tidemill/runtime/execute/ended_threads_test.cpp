#include <atomic>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <pthread.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/stream/inlet.hpp"
#include "tidemill/runtime/testing/each_executor.hpp"
#include "tidemill/testing/refused_memory.hpp"

using namespace tidemill;
using namespace tidemill::internal;

namespace {

// Threads for which there is no memory since the last change of this have none left.
std::atomic<int> memory_came_back = 1;
thread_local int no_memory_since = 0;

void lose_memory() {
    no_memory_since = memory_came_back;
}

}  // namespace

bool tidemill::testing::refuses_memory() noexcept {
    return no_memory_since == memory_came_back.load(std::memory_order_relaxed);
}

namespace {

/// Ends its thread, once it is said to.
struct Ending {
    std::atomic<bool> ends{false};
    void operator()() {
        if (ends.exchange(false)) pthread_exit(nullptr);
    }
};

using Tasks = std::function<void(int frame, int task)>;

/// source -> middle -> sink, each of which calls that.
void build_calling(Graph& graph, const Tasks& call) {
    auto& source = graph.add(task("source", out<int>("x"), [call, n = 0](auto x) mutable {
        call(n, 0);
        x[0] = n++;
    }));
    auto& middle = graph.add(task("middle", pure, in<int>("x"), out<int>("y"), [call](auto x, auto y) {
        call(x[0], 1);
        y[0] = x[0];
    }));
    auto& sink = graph.add(task("sink", in<int>("y"), [call](auto y) { call(y[0], 2); }));
    graph.chain(source, middle, sink);
}

/// How a call ended on a thread of its own: what it threw, "returned", or "unwound" with its thread.
std::string end_of(const std::function<void()>& call) {
    std::string end = "unwound";
    std::thread([&] {
        const auto failure = thrown_by(call);
        end = failure ? message_of(failure) : "returned";
    }).join();
    return end;
}

bool is_unwound_or_error_of(const std::string& end, const std::string& task) {
    return end == "unwound" || (end.find(task) != std::string::npos && end.find("pthread_exit") != end.npos);
}

}  // namespace

TEST_CASE("a task that ends its thread ends the run, and the stream goes on with other threads") {
    for (const int where : {0, 1, 2}) {
        Ending ending;
        const auto build = [&](Graph& graph) {
            build_calling(graph, [&ending, where](int frame, int task) {
                if (frame == 50 && task == where) ending();
            });
        };
        under_each_executor(build, [&](Executor& executor, const std::string& name) {
            CAPTURE(name);
            CAPTURE(where);
            ending.ends = true;
            const std::string end = end_of([&] { executor.run({.frames = 1000}); });
            CAPTURE(end);
            const std::string tasks[] = {"task source.source", "task middle.middle", "task sink.sink"};
            CHECK(is_unwound_or_error_of(end, tasks[where]));
            CHECK(end_of([&] { executor.run({.frames = 1000}); }) == "returned");
            CHECK(executor.resume({.frames = 3}).delivered == 3);
        });
    }
}

TEST_CASE("a condition that ends its thread ends the run, and the stream goes on with other threads") {
    Ending ending;
    const auto build = [](Graph& graph) { build_calling(graph, [](int, int) {}); };
    under_each_executor(build, [&](Executor& executor, const std::string& name) {
        CAPTURE(name);
        ending.ends = true;
        int asked = 0;
        const auto ask = [&] {
            if (++asked == 70) ending();
            return false;
        };
        const std::string end = end_of([&] { executor.run({.frames = 1000, .stop_when = ask}); });
        CAPTURE(end);
        CHECK(is_unwound_or_error_of(end, "thread"));
        CHECK(executor.resume({.frames = 3}).delivered == 3);
    });
}

TEST_CASE("a thread in run() that is cancelled is unwound when the frames in flight are finished") {
    std::atomic<bool> runs = false;
    std::atomic<int> through = 0;
    const auto build = [&](Graph& graph) {
        build_calling(graph, [&](int frame, int task) {
            if (frame == 20 && task == 0) runs = true;
            if (task == 2) ++through;
            pthread_testcancel();
        });
    };
    under_each_executor(build, [&](Executor& executor, const std::string& name) {
        CAPTURE(name);
        runs = false;
        bool unwound = true;
        std::thread thread([&] {
            executor.run({});
            unwound = false;
        });
        while (!runs) std::this_thread::yield();
        pthread_cancel(thread.native_handle());
        thread.join();
        CHECK(unwound);
        CHECK(executor.resume({.frames = 3}).delivered == 3);
    });
}

TEST_CASE("a task that fails for want of memory is told, though there is none to tell it with") {
    for (const int where : {0, 1, 2}) {
        std::atomic<bool> fails = false;
        const auto build = [&](Graph& graph) {
            build_calling(graph, [&, where](int frame, int task) {
                if (frame != 20 || task != where || !fails.exchange(false)) return;
                lose_memory();
                std::string(1000, 'x').shrink_to_fit();
            });
        };
        under_each_executor(build, [&](Executor& executor, const std::string& name) {
            CAPTURE(name);
            fails = true;
            std::exception_ptr failure;
            std::thread([&] { failure = thrown_by([&] { executor.run({.frames = 1000}); }); }).join();
            ++memory_came_back;
            REQUIRE(failure);
            // In order it is the calling thread that has none to make the error of.
            CHECK(message_of(failure).find("std::bad_alloc") != std::string::npos);
            CHECK(executor.run({.frames = 3}).delivered == 3);
        });
    }
}

TEST_CASE("a run that was started and whose thread a task ends says so where it is joined") {
    Graph graph;
    Ending ending;
    ending.ends = true;
    build_calling(graph, [&](int frame, int) {
        if (frame == 5) ending();
    });
    Sequence sequence(graph);
    Started run(sequence);
    CHECK_THROWS_AS(run.join(), RunError);
}

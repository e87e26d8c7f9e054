#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

// A part of a program: a struct that adds modules to a graph, and has the sockets at its ends.
struct Squares {
    explicit Squares(Graph& g) {
        const Graph::Group group(g, "squares");
        auto& twin = g.add(task("twin", in<int>("x"), out<int>("a"), out<int>("b"),
                                [](auto x, auto a, auto b) { a[0] = b[0] = x[0]; }));
        auto& multiply = g.add(task("multiply", in<int>("a"), in<int>("b"), out<int>("y"),
                                    [](auto a, auto b, auto y) { y[0] = a[0] * b[0]; }));
        g.chain(twin, multiply);
        input = twin["x"];
        output = multiply["y"];
    }
    SocketRef input{};
    SocketRef output{};
};

int main() {
    Graph g;
    auto& source = g.add(task("source", out<int>("y"), [n = 0](auto y) mutable { y[0] = n++; }));
    const Squares squares(g);
    auto& print = g.add(task("print", in<int>("x"), [](auto x) { fmt::print("{} ", x[0]); }));
    g.chain(source, squares, print);

    Watchdog dog(g, std::chrono::seconds(10),
                 [](const std::string& text) { fmt::print(stderr, "{}", text); });
    Schedule schedule = thread_per_task(structure_of(g));
    Pipeline pipeline(g, schedule, {.frames = 2});
    pipeline.run({.frames = 5, .observers = {&dog}});
    fmt::print("pause ");
    pipeline.resume({.frames = 3});
    schedule = thread_per_task(pipeline.structure(), 2);
    pipeline.reschedule(schedule);
    fmt::print("twice as many threads ");
    pipeline.resume({.frames = 3});
    fmt::print("\n{}\n", schedule.task_names[1]);
}

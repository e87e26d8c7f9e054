#include <cmath>

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

int main() {
    constexpr std::size_t kSize = 2000;
    double total = 0;
    Graph g;
    auto& source = g.add(task("source", out<float>("y", kSize), [](auto y) {
        for (float& each : y) each = 1;
    }));
    auto& work = g.add(task("work", forward<float>("x", kSize), [](auto x) {
        for (float& each : x) each = std::sqrt(each + 3);
    }));
    auto& sink = g.add(task("sink", in<float>("x", kSize), [&total](auto x) { total += x[0]; }));
    g.chain(source, work, sink);

    const Profile cost = profile(g, {.frames = 200});
    const Schedule best = herad(cost, {.big = 2});
    write_schedule(best, "schedule.json");
    fmt::print("{} tasks profiled\n", cost.tasks.size());

    total = 0;
    Pipeline pipeline(g, read_schedule("schedule.json"));
    const RunReport report = pipeline.run({.frames = 1000});
    fmt::print("{} frames, total {}\n", report.delivered, total);
}

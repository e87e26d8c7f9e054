#pragma once

#include <doctest/doctest.h>

#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/lab/sim/worst_cases.hpp"

/// The formulas of the chapter's Table 4.3, for the tests that hold simulated runs to them.
namespace tidemill::worst_case {

constexpr double kUnitUs = 1000;

inline SimulatedTasks run(StreamGraph graph, unsigned p, std::uint64_t iterations, const TaskScheduling& how,
                          double noise = 0, bool ends_together = false) {
    const auto program = stream_program(std::move(graph), iterations);
    const TaskMachine machine{
        .speeds = std::vector<double>(p, 1.0), .ends_together = ends_together, .noise = noise};
    return simulate_tasks(*program, machine, how);
}

inline void check_efficiency(double expected, const char* policy, StreamGraph graph, unsigned p,
                             std::uint64_t iterations, const policy::Window& window = {},
                             bool ends_together = false) {
    CAPTURE(p);
    CAPTURE(graph.name);
    CAPTURE(policy);
    const SimulatedTasks report =
        run(std::move(graph), p, iterations, {.policy = policy, .window = window}, 0, ends_together);
    CHECK(report.efficiency(p) == doctest::Approx(expected).epsilon(0.01));
}

// p/(2p-1): what no policy can fall below.
inline double least(unsigned p) {
    return p / (2.0 * p - 1);
}

inline void check_exhaustion(unsigned p) {
    constexpr std::uint64_t kIterations = 200;
    constexpr policy::Window kWindow{.iterations = 10};
    for (const char* policy : {"oldest", "fifo,oldest", "lifo,oldest"}) {
        check_efficiency(least(p), policy, exhaustion(p, false, kUnitUs), p, kIterations, kWindow);
    }
    for (const char* policy : {"oldest", "fifo", "toplev", "wave,oldest"}) {
        check_efficiency(least(p), policy, exhaustion(p, true, kUnitUs), p, kIterations, kWindow);
    }
    for (const char* policy : {"botlev", "crit"}) {
        for (const unsigned parts : {2u, 4u}) {
            check_efficiency(least(p), policy, exhaustion_in_parts(p, parts, kUnitUs), p, kIterations,
                             kWindow);
        }
    }
    check_efficiency(least(p), "mchild", exhaustion_with_children(p, kUnitUs), p, kIterations / 2, kWindow);
    check_efficiency(least(p), "mdesc", exhaustion_in_parts(p, 2, kUnitUs), p, kIterations,
                     {.iterations = 1});
}

inline void check_back_pressure(unsigned p) {
    const std::uint64_t iterations = p < 8 ? 300 : 100 * p / 8 * 4;
    for (const unsigned f : {2u, 4u, 16u}) {
        const double share = (p - 1.0) / f;
        check_efficiency(p / (2.0 * p - 1 - share), "toplev", slow_end(p, f, kUnitUs), p, iterations);
        check_efficiency(p / (2.0 * p - 1 - share), "botlev", slow_join(p, f, kUnitUs), p, 100);
        check_efficiency(p / (2.0 * p - 1 - (p - 1.0) / (f + 1)), "mdesc", slow_join(p, f, kUnitUs), p,
                         p * f <= 32 ? 100 : 30);
        check_efficiency(least(p), "crit", slow_join(p, f, kUnitUs), p, 100);
    }
    check_efficiency(least(p), "lifo", slow_pipeline(p, kUnitUs), p, 500);
    check_efficiency(least(p), "mchild", slow_pipeline(p, kUnitUs), p, 500, {}, true);
    if (p > 2) check_efficiency((2.0 * p - 2) / (3.0 * p - 4), "oldest", stolen_type(p, kUnitUs), p, 2000);
}

inline void check_fifo_back_pressure(unsigned p, std::uint64_t iterations) {
    check_efficiency(2.0 * p / (3.0 * p - 1), "fifo", long_pipeline(p, 1024), p, iterations);
}

/// After it has adapted, an adaptive policy reaches 0.95 of what is possible on every case of exhaustion. One
/// unit of work is 1 ms, it looks every 100 ms.
inline void check_cure(unsigned p) {
    for (const char* policy : {"apriority", "gpriority"}) {
        for (const double noise : {0.0, 0.01}) {
            for (const StreamGraph& graph :
                 {exhaustion(p, false, kUnitUs), exhaustion(p, true, kUnitUs),
                  exhaustion_in_parts(p, 2, kUnitUs), exhaustion_with_children(p, kUnitUs),
                  exhaustion_joined(p, kUnitUs)}) {
                CAPTURE(p);
                CAPTURE(graph.name);
                CAPTURE(policy);
                CAPTURE(noise);
                const TaskScheduling how{.policy = policy, .window = {.iterations = 4}};
                CHECK(run(graph, p, 2500, how, noise).settled_utilisation >= 0.95);
            }
        }
    }
}

}  // namespace tidemill::worst_case

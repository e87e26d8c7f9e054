#include "tidemill/lab/sim/access_program.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tidemill/lab/sim/task_programs.hpp"
#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {
namespace {

using Mode = TileAccess::Mode;

struct Span {
    double begin_us = 0;
    double end_us = 0;

    bool meets(const Span& other) const { return begin_us < other.end_us && other.begin_us < end_us; }
};

std::vector<Span> simulated(TaskProgram& program, std::string_view policy, std::size_t workers = 4) {
    std::vector<Span> spans(program.tasks());
    simulate_tasks(program, {.speeds = std::vector<double>(workers, 1.0)}, {.policy = std::string(policy)},
                   [&](const RanTask& task) {
                       spans[task.number] = {task.begin_us, task.end_us};
                   });
    return spans;
}

double efficiency(std::string_view name, std::string_view policy, unsigned workers) {
    const auto program = make_task_program(name, {});
    return simulate_tasks(*program, {.speeds = std::vector<double>(workers, 1.0)},
                          {.policy = std::string(policy), .window = {.iterations = 16}})
        .efficiency(workers);
}

// Whether two accesses of the same tile must keep the order of the program; or only apart.
bool are_ordered(Mode first, Mode second) {
    if (second == Mode::renamed) return false;
    return first != second || first == Mode::out || first == Mode::inout;
}

struct Named {
    Mode mode;
    std::uint64_t tile;
    double work_us;
};

Named random_named() {
    return {static_cast<Mode>(*rc::gen::inRange(0, 7)), *rc::gen::inRange<std::uint64_t>(0, 2),
            static_cast<double>(*rc::gen::inRange(1, 20))};
}

}  // namespace

TEST_CASE("tasks that a program orders follow each other, commutative ones never meet, whatever the policy") {
    CHECK(rc::check("as accesses say", [] {
        const auto named = *rc::gen::container<std::vector<Named>>(rc::gen::exec(random_named));
        const auto policies = policy::policies();
        const auto& policy = policies[*rc::gen::inRange<std::size_t>(0, policies.size())];
        AccessProgram program("random", {"task"});
        for (const auto& [mode, tile, work_us] : named) program.add(0, work_us, 8, {{{tile}, mode}});
        const std::vector<Span> spans = simulated(program, policy.name);
        for (std::size_t second = 0; second < named.size(); ++second) {
            // A renamed write is in memory of its own, behind which nobody has to do with what was before.
            for (std::size_t first = second; first-- > 0 && named[second].mode != Mode::renamed;) {
                if (named[first].tile != named[second].tile) continue;
                if (are_ordered(named[first].mode, named[second].mode)) {
                    const bool reads = named[first].mode == Mode::in && named[second].mode == Mode::in;
                    RC_ASSERT(reads || spans[first].end_us <= spans[second].begin_us);
                } else if (named[first].mode == Mode::commutative) {
                    RC_ASSERT(!spans[first].meets(spans[second]));
                }
                if (named[first].mode == Mode::renamed) break;
            }
        }
    }));
}

TEST_CASE("commutative tasks that an order would hold up win, under every policy; reductions win more") {
    for (const policy::PolicyName& each : policy::policies()) {
        CAPTURE(each.name);
        const double ordered = efficiency("pairs", each.name, 8);
        const double commutative = efficiency("pairs-commutative", each.name, 8);
        const double reduced = efficiency("pairs-reduction", each.name, 8);
        CHECK(commutative > 1.1 * ordered);
        CHECK(reduced > 0.95 * commutative);
    }
}

TEST_CASE("a buffer that is renamed keeps four workers busy, and one that is not, half of them") {
    for (const policy::PolicyName& each : policy::policies()) {
        CAPTURE(each.name);
        // 1 ms to fill, then three tasks of 2 ms, and only then the next.
        CHECK(efficiency("buffer", each.name, 4) == doctest::Approx(7.0 / 12).epsilon(0.001));
        CHECK(efficiency("buffer-renamed", each.name, 4) > 0.9);
    }
}

TEST_CASE("what is renamed is alive until who uses it has ended, and copies while their tasks run") {
    AccessProgram program("p", {"t"});
    const Tile tile{};
    program.add(0, 10, 100, {{tile, Mode::renamed}});
    program.add(0, 10, 0, {{tile, Mode::in}});
    program.add(0, 10, 100, {{tile, Mode::renamed}});
    program.add(0, 10, 8, {{tile, Mode::reduction}});
    program.add(0, 10, 8, {{tile, Mode::reduction}});
    const auto peak = [&](std::size_t workers) {
        return simulate_tasks(program, {.speeds = std::vector<double>(workers, 1.0)}, {}).peak_bytes;
    };
    CHECK(peak(1) == 108);
    CHECK(peak(4) == 216);
}

}  // namespace tidemill

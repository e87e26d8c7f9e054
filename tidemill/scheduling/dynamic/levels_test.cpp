#include <array>
#include <functional>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tidemill/scheduling/dynamic/crit.hpp"
#include "tidemill/scheduling/dynamic/mchild.hpp"
#include "tidemill/scheduling/dynamic/mdesc.hpp"
#include "tidemill/scheduling/dynamic/wave.hpp"

namespace tidemill::policy {

namespace {

using Slots = std::vector<TaskSlot>;

// Predecessors of each task; a task's slot is its number.
using Program = std::vector<Slots>;

template <class R>
R after_creating(const Program& program) {
    R rule;
    for (TaskSlot task = 0; task < program.size(); ++task) {
        rule.create({.slot = task, .type = task, .number = task, .predecessors = program[task]});
    }
    return rule;
}

// Every task waits for some of those before it.
Program random_program() {
    const auto tasks = *rc::gen::inRange<TaskSlot>(1, 30);
    Program program(tasks);
    for (TaskSlot task = 1; task < tasks; ++task) {
        for (TaskSlot before = 0; before < task; ++before) {
            if (*rc::gen::inRange(0, 6) == 0) program[task].push_back(before);
        }
    }
    return program;
}

// By the definition, from the whole graph.
struct Metrics {
    std::int64_t top = 0, bottom = 0, children = 0, descendants = 0;
};
std::vector<Metrics> metrics_of(const Program& program) {
    std::vector<Metrics> metrics(program.size());
    std::vector<std::vector<bool>> reaches(program.size(), std::vector<bool>(program.size()));
    for (TaskSlot task = 0; task < program.size(); ++task) {
        for (const TaskSlot before : program[task]) {
            metrics[task].top = std::max(metrics[task].top, metrics[before].top + 1);
        }
    }
    for (TaskSlot task = static_cast<TaskSlot>(program.size()); task-- > 0;) {
        for (const TaskSlot before : program[task]) {
            Metrics& of = metrics[before];
            ++of.children;
            of.bottom = std::max(of.bottom, metrics[task].bottom + 1);
            reaches[before][task] = true;
            for (TaskSlot after = task; after < program.size(); ++after) {
                if (reaches[task][after]) reaches[before][after] = true;
            }
        }
        metrics[task].descendants = std::ranges::count(reaches[task], true);
    }
    return metrics;
}

}  // namespace

TEST_CASE("levels, children and descendants of Fig. 4.4 are as drawn") {
    const Program program{{}, {0}, {0}, {1}, {3, 2}};  // A, then B C D E
    const auto toplev = after_creating<Toplev>(program);
    const auto botlev = after_creating<Botlev>(program);
    const auto crit = after_creating<Crit>(program);
    const auto mchild = after_creating<Mchild>(program);
    const auto mdesc = after_creating<Mdesc>(program);
    using Row = std::array<std::int64_t, 5>;
    const auto row = [&](TaskSlot task) {
        return Row{toplev.rank(task), -botlev.rank(task), -crit.rank(task), -mchild.rank(task),
                   -mdesc.rank(task)};
    };
    CHECK(row(1) == Row{1, 2, 3, 1, 2});
    CHECK(row(2) == Row{1, 1, 2, 1, 1});
    CHECK(row(3) == Row{2, 1, 3, 1, 1});
    CHECK(row(4) == Row{3, 0, 3, 0, 0});
}

TEST_CASE("what is kept up to date task by task agrees with the whole graph") {
    rc::check([] {
        const Program program = random_program();
        const std::vector<Metrics> metrics = metrics_of(program);
        const auto crit = after_creating<Crit>(program);
        const auto botlev = after_creating<Botlev>(program);
        const auto mchild = after_creating<Mchild>(program);
        const auto mdesc = after_creating<Mdesc>(program);
        for (TaskSlot task = 0; task < program.size(); ++task) {
            RC_ASSERT(-botlev.rank(task) == metrics[task].bottom);
            RC_ASSERT(-crit.rank(task) == metrics[task].top + metrics[task].bottom);
            RC_ASSERT(-mchild.rank(task) == metrics[task].children);
            RC_ASSERT(-mdesc.rank(task) == metrics[task].descendants);
        }
    });
}

TEST_CASE("a completed task, and one that has taken its slot, gains nothing from what comes later") {
    Botlev botlev;
    const Slots first{0};
    const Slots second{1};
    botlev.create({.slot = 0, .type = 0, .number = 0});
    botlev.create({.slot = 1, .type = 1, .number = 1, .predecessors = first});
    botlev.complete(0, 0);
    botlev.create({.slot = 0, .type = 0, .number = 2});  // not what task 1 waited for
    botlev.create({.slot = 2, .type = 2, .number = 3, .predecessors = second});
    CHECK(botlev.rank(1) == -1);
    CHECK(botlev.rank(0) == 0);
}

TEST_CASE("a wave number is the iteration plus the task type's level in it, however often task types fire") {
    Wave wave;  // task type 0 twice an iteration, each time for task type 1; both keep state
    TaskSlot task = 0;
    for (std::uint64_t iteration = 0; iteration < 3; ++iteration) {
        for (const TaskTypeId type : {0u, 0u, 1u, 1u}) {
            Slots before;
            if (type == 1) before.push_back(task - 2);
            if (task >= 4) before.push_back(task - (task % 2 == 0 ? 3 : 1));
            wave.create(
                {.slot = task, .type = type, .number = task, .iteration = iteration, .predecessors = before});
            CHECK(wave.rank(task) == static_cast<std::int64_t>(iteration + type));
            ++task;
        }
    }
}

}  // namespace tidemill::policy

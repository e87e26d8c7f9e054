#include "tidemill/scheduling/dynamic/policy.hpp"

#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/scheduling/dynamic/policy_error.hpp"

namespace tidemill::policy {

namespace {

using Slots = std::vector<TaskSlot>;

// Creates tasks 0, 1, ... of one task type; a task's slot is its number.
void create(Policy& policy, std::uint64_t tasks) {
    for (std::uint64_t number = 0; number < tasks; ++number) {
        policy.create({.slot = static_cast<TaskSlot>(number), .type = 0, .number = number});
    }
}

void ready(Policy& policy, const Slots& tasks) {
    for (const TaskSlot task : tasks) policy.ready(task);
}

Slots issue_all(Policy& policy) {
    Slots order;
    for (TaskSlot task = policy.issue(0); task != kNoTask; task = policy.issue(0)) order.push_back(task);
    return order;
}

Slots order_of(const std::string& names, const Slots& made_ready) {
    const auto policy = make_policy(names, 1);
    create(*policy, 10);
    ready(*policy, made_ready);
    return issue_all(*policy);
}

}  // namespace

TEST_CASE("fifo issues in the order of readiness, lifo in the opposite one, oldest in that of creation") {
    CHECK(order_of("fifo", {4, 1, 7, 2}) == Slots{4, 1, 7, 2});
    CHECK(order_of("lifo", {4, 1, 7, 2}) == Slots{2, 7, 1, 4});
    CHECK(order_of("oldest", {4, 1, 7, 2}) == Slots{1, 2, 4, 7});
}

TEST_CASE("in a list, what one completion made ready is tied and goes by the next policy") {
    for (const auto& [names, expected] :
         {std::pair{"fifo,oldest", Slots{3, 5, 1, 2}}, std::pair{"lifo,oldest", Slots{1, 2, 3, 5}}}) {
        const auto policy = make_policy(names, 1);
        create(*policy, 10);
        ready(*policy, {0, 5, 3});
        CHECK(policy->issue(0) == 0);
        policy->complete(0, 0);
        ready(*policy, {2, 1});
        CHECK(issue_all(*policy) == expected);
    }
}

TEST_CASE("a ring keeps its order when it grows and goes round") {
    const auto policy = make_policy("fifo", 1);
    create(*policy, 1000);
    TaskSlot next = 0;
    for (TaskSlot task = 0; task < 1000; ++task) {
        policy->ready(task);
        if (task % 3 == 0) CHECK(policy->issue(0) == next++);
    }
    CHECK(policy->ready_tasks() == 1000 - next);
    for (const TaskSlot task : issue_all(*policy)) CHECK(task == next++);
    CHECK(next == 1000);
}

TEST_CASE("the program's own priority goes before everything that it is listed before") {
    const auto policy = make_policy("priority,oldest", 1);
    for (const auto& [slot, priority] : {std::pair{0u, 0}, {1u, 7}, {2u, 7}, {3u, -1}}) {
        policy->create({.slot = slot, .type = 0, .number = slot, .priority = priority});
    }
    ready(*policy, {3, 2, 1, 0});
    CHECK(issue_all(*policy) == Slots{1, 2, 0, 3});
}

TEST_CASE("under every policy a worker is given only what its kind of core may run, the best of that") {
    constexpr KindId kBig = 0;
    constexpr KindId kLittle = 1;
    const std::vector<KindId> workers{kBig, kLittle};
    for (const PolicyName& each : policies()) {
        CAPTURE(each.name);
        const auto policy = make_policy(each.name, workers);
        const std::vector<KindSet> kinds{1 << kBig, kAnyKind, 1 << kBig, 1 << kLittle, kAnyKind};
        for (TaskSlot task = 0; task < kinds.size(); ++task) {
            policy->create({.slot = task, .type = 0, .number = task, .kinds = kinds[task]});
        }
        ready(*policy, {0, 1, 2, 3, 4});
        const bool last_first = each.name == "lifo";
        CHECK(policy->issue(1) == (last_first ? 4 : 1));
        CHECK(policy->issue(1) == 3);
        CHECK(policy->issue(1) == (last_first ? 1 : 4));
        CHECK(policy->issue(1) == kNoTask);
        CHECK(policy->ready_tasks() == 2);
        CHECK(policy->issue(0) == (last_first ? 2 : 0));
    }
}

TEST_CASE("a task for a kind of core that no worker has is refused") {
    for (const char* name : {"oldest", "fifo"}) {
        const auto policy = make_policy(name, 4);
        CHECK_THROWS_WITH_AS(policy->create({.slot = 0, .type = 0, .number = 0, .kinds = 2}),
                             doctest::Contains("that no worker has"), PolicyError);
    }
    CHECK_THROWS_AS(make_policy("oldest", std::vector<KindId>{32}), PolicyError);
}

TEST_CASE("creating a task changes the rank of those before it under policies that look ahead only") {
    for (const auto& expected : {std::pair{"oldest", 0u},
                                 {"gpriority", 0u},
                                 {"fifo", 0u},
                                 {"mchild", 3u},
                                 {"botlev", 6u},
                                 {"mdesc", 6u}}) {
        const std::string name = expected.first;
        CAPTURE(name);
        const auto policy = make_policy(name, 1);
        for (TaskSlot task = 0; task < 4; ++task) {
            const Slots before(task > 0 ? 1 : 0, task - 1);
            policy->create({.slot = task, .type = 0, .number = task, .predecessors = before});
        }
        CHECK(policy->rank_changes() == expected.second);
    }
}

TEST_CASE("a policy that does not exist is refused with the names that do") {
    CHECK_THROWS_WITH_AS(make_policy("best", 1),
                         doctest::Contains("'best' is not a policy; take one of fifo"), PolicyError);
    CHECK_THROWS_AS(make_policy("oldest,", 1), PolicyError);
    CHECK_THROWS_WITH_AS(make_policy("fifo,lifo,fifo,lifo,oldest", 1), doctest::Contains("at most 4"),
                         PolicyError);
}

TEST_CASE("every policy of the list can be made by its name and says what it prefers") {
    for (const PolicyName& each : policies()) {
        CHECK(make_policy(each.name, 2)->ready_tasks() == 0);
        CHECK_FALSE(each.issues_first.empty());
    }
}

TEST_CASE("task types apart: a worker gets what it may have, in the policy's order, and nothing else") {
    for (const auto& [names, first, last] :
         {std::tuple{"fifo", 5u, 1u}, std::tuple{"lifo", 3u, 5u}, std::tuple{"oldest", 1u, 5u}}) {
        const auto policy = make_policy(names, 1);
        policy->part_types();
        for (std::uint64_t number = 0; number < 6; ++number) {
            const auto slot = static_cast<TaskSlot>(number);
            policy->create({.slot = slot, .type = slot % 2, .number = number});
        }
        ready(*policy, {4, 5, 1, 0, 3});
        const std::vector<std::uint8_t> odd{0, 1};
        CHECK(policy->ready_tasks() == 5);
        CHECK(policy->issue(0, odd) == first);
        CHECK(policy->issue(0, odd) != kNoTask);
        CHECK(policy->issue(0, odd) == (std::string(names) == "fifo" ? 3u : last));
        CHECK(policy->issue(0, odd) == kNoTask);
        CHECK(policy->issue(0, {}) == kNoTask);
        CHECK(policy->ready_tasks() == 2);
        CHECK(issue_all(*policy).size() == 2);
    }
}

TEST_CASE("task types apart: alike to all together where a worker may have any") {
    for (const PolicyName& each : policies()) {
        const auto together = make_policy(each.name, 1);
        const auto apart = make_policy(each.name, 1);
        apart->part_types();
        for (std::uint64_t number = 0; number < 20; ++number) {
            const NewTask task{.slot = static_cast<TaskSlot>(number),
                               .type = static_cast<TaskTypeId>(number % 3),
                               .number = number,
                               .iteration = number / 3};
            together->create(task);
            apart->create(task);
        }
        const Slots made_ready{7, 3, 12, 0, 19, 4, 4 + 9, 1};
        ready(*together, made_ready);
        ready(*apart, made_ready);
        const std::vector<std::uint8_t> any(3, 1);
        for (std::size_t i = 0; i < made_ready.size(); ++i) CHECK(apart->issue(0, any) == together->issue(0));
    }
}

}  // namespace tidemill::policy

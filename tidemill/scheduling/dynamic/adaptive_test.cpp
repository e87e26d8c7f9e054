#include <vector>

#include <doctest/doctest.h>

#include "tidemill/scheduling/dynamic/apriority.hpp"
#include "tidemill/scheduling/dynamic/gpriority.hpp"

namespace tidemill::policy {

namespace {

using Slots = std::vector<TaskSlot>;
constexpr std::uint64_t kInterval = 100;
constexpr Adapting kAdapting{
    .interval_ns = kInterval, .starved_interval_ns = 5 * kInterval, .first_delta = 4};

// A stream of three task types in a row, all of which keep state; runs one task after the other, task type
// `late` while the other worker is idle.
template <class R>
class Stream {
  public:
    explicit Stream(TaskTypeId late) : late_(late) {
        for (int i = 0; i < 20; ++i) create_iteration();
        rule_.issue(0, 1);  // the second worker has begun, so that it can be idle
        rule_.complete(0, 1);
        rule_.tick(1);
    }

    void run_iteration() {
        for (TaskTypeId type = 0; type < 3; ++type, ++completed_) {
            const TaskSlot task = completed_;
            rule_.issue(task, 0);
            if (type != late_) rule_.issue(task, 1);
            rule_.complete(task, 0);
            if (type != late_) rule_.complete(task, 1);
        }
        create_iteration();
    }

    R& rule() { return rule_; }

  private:
    void create_iteration() {
        for (TaskTypeId type = 0; type < 3; ++type, ++created_) {
            Slots before;
            if (type > 0) before.push_back(created_ - 1);
            if (created_ >= 3) before.push_back(created_ - 3);
            rule_.create({.slot = created_,
                          .type = type,
                          .number = created_,
                          .iteration = created_ / 3,
                          .predecessors = before});
        }
    }

    R rule_{2, kAdapting};
    TaskTypeId late_;
    TaskSlot created_ = 0;
    TaskSlot completed_ = 0;
};

}  // namespace

TEST_CASE("the task type that ends with the fewest threads busy is the bottleneck, as in Fig. 4.10") {
    // a, then b1 to b4 and c1 to c4, three iterations on five threads.
    std::vector<TypeBusyness> types(9, {.busy_threads = 12, .not_starved = 3});
    types[0] = {.busy_threads = 3, .not_starved = 3};
    CHECK(judge(types).bottleneck == TaskTypeId{0});
    types[0] = {.busy_threads = 11, .not_starved = 3};
    CHECK(judge(types).bottleneck == std::nullopt);
}

TEST_CASE("a worker that is given several tasks at once is busy once, as each of them ends") {
    Gpriority rule(2, kAdapting);
    const auto create = [&](TaskSlot task) { rule.create({.slot = task, .type = 0, .number = task}); };
    for (TaskSlot task = 0; task < 10; ++task) create(task);
    rule.issue(9, 1);  // the second worker has begun, so that it can be idle
    rule.complete(9, 1);
    const std::uint64_t before = rule.busyness()[0].busy_threads;
    for (int round = 0; round < 2; ++round) {
        for (TaskSlot task = 0; task < 4; ++task) rule.issue(task, 0);
        for (TaskSlot task = 0; task < 4; ++task) {
            rule.issue(task, 0);  // goes on with it
            rule.complete(task, 0);
        }
    }
    CHECK(rule.busyness()[0].busy_threads == before + 2 * 4);
}

TEST_CASE("of task types that look equally late the last one is the bottleneck, one without tasks never is") {
    std::vector<TypeBusyness> types(4, {.busy_threads = 8, .not_starved = 2});
    types[0] = types[2] = {.busy_threads = 2, .not_starved = 2};
    types[3] = {};
    CHECK(judge(types).bottleneck == TaskTypeId{2});
}

TEST_CASE("where a tenth of the tasks starve the master is too slow, and nobody is the bottleneck") {
    std::vector<TypeBusyness> types{{.busy_threads = 10, .not_starved = 10},
                                    {.busy_threads = 40, .not_starved = 10}};
    CHECK(judge(types).bottleneck == TaskTypeId{0});
    types[1].starved = 2;
    CHECK(judge(types).master_too_slow);
    CHECK(judge(types).bottleneck == std::nullopt);
    CHECK_FALSE(judge({}).master_too_slow);
}

TEST_CASE("threads that were never given a task count as busy") {
    BusyThreads threads(3);
    CHECK(threads.busy() == 3);
    threads.begin(1);
    CHECK(threads.busy() == 3);
    threads.end(1);
    CHECK(threads.busy() == 2);
    threads.begin(1);
    CHECK(threads.busy() == 3);
}

TEST_CASE("apriority raises a bottleneck by the tasks of an iteration, and all before it to the same") {
    Stream<Apriority> stream(1);
    stream.run_iteration();
    CHECK_FALSE(stream.rule().tick(kInterval));
    CHECK(stream.rule().tick(kInterval + 1));
    CHECK(stream.rule().adjustment(0) == 3);
    CHECK(stream.rule().adjustment(1) == 3);
    CHECK(stream.rule().adjustment(2) == 0);
}

TEST_CASE("gpriority raises a bottleneck by steps that double, and those before it by less: they are older") {
    Stream<Gpriority> stream(2);
    std::uint64_t now_ns = 1;
    for (const std::int64_t expected : {4, 12, 28}) {
        stream.run_iteration();
        CHECK(stream.rule().tick(now_ns += kInterval));
        CHECK(stream.rule().adjustment(2) == expected);
        CHECK(stream.rule().adjustment(1) == expected - 1);
        CHECK(stream.rule().adjustment(0) == expected - 2);
    }
}

TEST_CASE("a cycle of task types is raised once round, less far the longer it is") {
    Gpriority rule(1, kAdapting);
    for (TaskSlot task = 0; task < 4; ++task) rule.create({.slot = task, .type = task % 2, .number = task});
    rule.learn(0, 1, 1);
    rule.learn(1, 0, 2);
    rule.raise(1);
    CHECK(rule.adjustment(1) == 4);
    CHECK(rule.adjustment(0) == 3);
}

TEST_CASE("statistics begin anew after every look, and nothing changes between two looks") {
    Stream<Gpriority> stream(2);
    stream.run_iteration();
    CHECK(stream.rule().tick(kInterval + 1));
    for (const TypeBusyness& type : stream.rule().busyness()) {
        CHECK(type.busy_threads + type.starved + type.not_starved == 0);
    }
    stream.run_iteration();
    CHECK_FALSE(stream.rule().tick(2 * kInterval));
}

TEST_CASE("tasks of one task type go oldest first, whatever its adjustment") {
    Gpriority rule(1, kAdapting);
    for (TaskSlot task = 0; task < 6; ++task) rule.create({.slot = task, .type = task % 2, .number = task});
    rule.raise(1);
    CHECK(rule.rank(1) < rule.rank(3));
    CHECK(rule.rank(3) < rule.rank(0));
    CHECK(rule.rank(5) > rule.rank(0));
}

}  // namespace tidemill::policy

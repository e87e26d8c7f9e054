#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/scheduling/dynamic/policy_error.hpp"
#include "tidemill/scheduling/dynamic/ranked.hpp"
#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill {

namespace {

// Takes the ready task that stands last in the graph.
struct LastTypeFirst : policy::Rule {
    void create(const policy::NewTask& task) { ranks_.at(task.slot) = -static_cast<Rank>(task.type); }
    Rank rank(policy::TaskSlot slot) const { return ranks_[slot]; }

  private:
    policy::Table<Rank> ranks_;
};

std::unique_ptr<policy::Policy> last_type_first(std::span<const policy::KindId> kind_of_worker) {
    return std::make_unique<policy::Ranked<LastTypeFirst>>(kind_of_worker, LastTypeFirst());
}

// A source, three tasks that are ready together, and a sink; the order in which the three were called.
std::string order_of_tasks(const DynamicOptions& options) {
    Graph graph;
    std::string order;
    auto& source = graph.add(task("source", out<int>("y"), [](auto y) { y[0] = 1; }));
    auto& sink = graph.add(task("sink", in<int>("a"), in<int>("b"), in<int>("c"), [](auto, auto, auto) {}));
    for (const char letter : {'a', 'b', 'c'}) {
        const std::string name(1, letter);
        auto& made = graph.add(task(name, pure, in<int>("x"), out<int>("y"), [&order, letter](auto, auto y) {
            y[0] = 0;
            order.push_back(letter);
        }));
        graph.bind(source["y"], made["x"]);
        graph.bind(made["y"], sink[name]);
    }
    Dynamic(graph, options).run({.frames = 3});
    return order;
}

/// The newest ready task first, by nothing but the interface that is installed.
class NewestFirst final : public policy::Policy {
  public:
    void create(const policy::NewTask&) override {}
    void ready(policy::TaskSlot task) override { ready_.push_back(task); }
    policy::TaskSlot issue(policy::WorkerId) override {
        if (ready_.empty()) return policy::kNoTask;
        const policy::TaskSlot task = ready_.back();
        ready_.pop_back();
        return task;
    }
    void part_types() override {}
    policy::TaskSlot issue(policy::WorkerId worker, std::span<const std::uint8_t>) override {
        return issue(worker);
    }
    void follow(policy::TaskSlot, policy::WorkerId) override {}
    void complete(policy::TaskSlot, policy::WorkerId) override {}
    void tick(std::uint64_t) override {}
    bool wants_predecessors() const override { return false; }
    void learn(policy::TaskTypeId, policy::TaskTypeId, double) override {}
    std::size_t ready_tasks() const override { return ready_.size(); }
    std::uint64_t rank_changes() const override { return 0; }

  private:
    std::vector<policy::TaskSlot> ready_;
};

constexpr std::chrono::nanoseconds kOneByOne{0};

}  // namespace

TEST_CASE("Dynamic obeys a policy of one's own to the letter where it hands out tasks one by one") {
    const policy::Window one{.iterations = 1};
    CHECK(order_of_tasks({.workers = 1, .policy = "oldest", .window = one, .bundle = kOneByOne}) ==
          "abcabcabc");
    CHECK(
        order_of_tasks({.workers = 1, .make_policy = last_type_first, .window = one, .bundle = kOneByOne}) ==
        "cbacbacba");
    const auto newest_first = [](auto) { return std::make_unique<NewestFirst>(); };
    CHECK(order_of_tasks({.workers = 1, .make_policy = newest_first, .window = one, .bundle = kOneByOne}) ==
          "cbacbacba");
}

TEST_CASE("a policy's maker that makes none is a clear fault") {
    const DynamicOptions options{.make_policy = [](auto) { return nullptr; }};
    CHECK_THROWS_WITH_AS(order_of_tasks(options),
                         "DynamicOptions::make_policy made none: let it return a policy",
                         policy::PolicyError);
}

}  // namespace tidemill

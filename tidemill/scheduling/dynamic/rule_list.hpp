#pragma once

#include <array>
#include <memory>
#include <vector>

#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill::policy {

/// A rule whose kind is known at run time only.
class AnyRule {
  public:
    virtual ~AnyRule() = default;
    virtual void create(const NewTask& task) = 0;
    virtual void ready(TaskSlot task) = 0;
    virtual void issue(TaskSlot task, WorkerId worker) = 0;
    virtual void complete(TaskSlot task, WorkerId worker) = 0;
    virtual void learn(TaskTypeId from, TaskTypeId to, double distance) = 0;
    virtual std::span<const TaskSlot> raised() = 0;
    virtual bool tick(std::uint64_t now_ns) = 0;
    virtual bool wants_predecessors() const = 0;
    virtual Rule::Rank rank(TaskSlot task) const = 0;
};

template <class R>
class AnyRuleOf final : public AnyRule {
  public:
    explicit AnyRuleOf(R rule) : rule_(std::move(rule)) {}
    void create(const NewTask& task) override { rule_.create(task); }
    void ready(TaskSlot task) override { rule_.ready(task); }
    void issue(TaskSlot task, WorkerId worker) override { rule_.issue(task, worker); }
    void complete(TaskSlot task, WorkerId worker) override { rule_.complete(task, worker); }
    void learn(TaskTypeId from, TaskTypeId to, double distance) override { rule_.learn(from, to, distance); }
    std::span<const TaskSlot> raised() override { return rule_.raised(); }
    bool tick(std::uint64_t now_ns) override { return rule_.tick(now_ns); }
    bool wants_predecessors() const override { return rule_.wants_predecessors(); }
    Rule::Rank rank(TaskSlot task) const override { return rule_.rank(task); }

  private:
    R rule_;
};

/// Rules of which each breaks the ties of those before it.
class RuleList : public Rule {
  public:
    static constexpr std::size_t kLongest = 4;
    using Rank = std::array<Rule::Rank, kLongest>;
    static constexpr bool kRaises = true;

    explicit RuleList(std::vector<std::unique_ptr<AnyRule>> rules);

    void create(const NewTask& task);
    void ready(TaskSlot task);
    void issue(TaskSlot task, WorkerId worker);
    void complete(TaskSlot task, WorkerId worker);
    void learn(TaskTypeId from, TaskTypeId to, double distance);
    std::span<const TaskSlot> raised();
    bool tick(std::uint64_t now_ns);
    bool wants_predecessors() const;
    Rank rank(TaskSlot task) const;

  private:
    std::vector<std::unique_ptr<AnyRule>> rules_;
    std::vector<TaskSlot> raised_;
};

}  // namespace tidemill::policy

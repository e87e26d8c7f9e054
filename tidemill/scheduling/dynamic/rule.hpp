#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill::policy {

/// Addition of a policy to a ready queue: a rank for every ready task, the least of which is issued first. A
/// rule hides those of these functions that it needs and adds `Rank rank(TaskSlot) const`; nothing is
/// virtual, so a queue compiled for one rule costs what the rule costs.
struct Rule {
    using Rank = std::int64_t;

    /// Whether a task's rank may fall while it is ready; raised() then returns those that did since it was
    /// called last.
    static constexpr bool kRaises = false;

    void create(const NewTask&) {}
    void ready(TaskSlot) {}
    void issue(TaskSlot, WorkerId) {}
    void complete(TaskSlot, WorkerId) {}
    void learn(TaskTypeId, TaskTypeId, double) {}
    bool wants_predecessors() const { return false; }
    std::span<const TaskSlot> raised() { return {}; }

    /// True if all ranks may have changed.
    bool tick(std::uint64_t) { return false; }
};

/// A value for each slot or task type; grows when a new one comes along.
template <class Value>
class Table {
  public:
    /// The value of a place, made when it is not there yet.
    Value& at(std::size_t place) {
        if (place >= values_.size()) [[unlikely]]
            values_.resize(std::max(place + 1, 2 * values_.size()));
        return values_[place];
    }
    const Value& operator[](std::size_t place) const { return values_[place]; }
    Value& operator[](std::size_t place) { return values_[place]; }
    std::size_t size() const { return values_.size(); }

    auto begin() { return values_.begin(); }
    auto end() { return values_.end(); }
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }

  private:
    std::vector<Value> values_;
};

}  // namespace tidemill::policy

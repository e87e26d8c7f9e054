#include "tidemill/scheduling/dynamic/rule_list.hpp"

#include <algorithm>

namespace tidemill::policy {

RuleList::RuleList(std::vector<std::unique_ptr<AnyRule>> rules) : rules_(std::move(rules)) {}

void RuleList::create(const NewTask& task) {
    for (const auto& rule : rules_) rule->create(task);
}

void RuleList::ready(TaskSlot task) {
    for (const auto& rule : rules_) rule->ready(task);
}

void RuleList::issue(TaskSlot task, WorkerId worker) {
    for (const auto& rule : rules_) rule->issue(task, worker);
}

void RuleList::complete(TaskSlot task, WorkerId worker) {
    for (const auto& rule : rules_) rule->complete(task, worker);
}

void RuleList::learn(TaskTypeId from, TaskTypeId to, double distance) {
    for (const auto& rule : rules_) rule->learn(from, to, distance);
}

std::span<const TaskSlot> RuleList::raised() {
    raised_.clear();
    for (const auto& rule : rules_) {
        const std::span<const TaskSlot> raised = rule->raised();
        raised_.insert(raised_.end(), raised.begin(), raised.end());
    }
    return raised_;
}

bool RuleList::tick(std::uint64_t now_ns) {
    bool changed = false;
    for (const auto& rule : rules_) changed |= rule->tick(now_ns);
    return changed;
}

bool RuleList::wants_predecessors() const {
    return std::ranges::any_of(rules_, [](const auto& rule) { return rule->wants_predecessors(); });
}

RuleList::Rank RuleList::rank(TaskSlot task) const {
    Rank rank{};
    std::ranges::transform(rules_, rank.begin(), [&](const auto& rule) { return rule->rank(task); });
    return rank;
}

}  // namespace tidemill::policy

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tidemill::policy {

/// How several tasks change a piece of memory without an order among them. Those that say the same, with no
/// other task in between, are a group.
struct SharedUse {
    std::uint8_t kind = 0;
    const void* operation = nullptr;  ///< of a reduction

    bool operator==(const SharedUse&) const = default;
};

/// Accesses of tasks to one piece of memory, and so what the next one must wait for. `Task{}` stands for no
/// task. Calls are given `around`, which has `in_flight(task)`, and `wait_for(task)`, of one task any number
/// of times.
template <class Task>
class AccessHistory {
  public:
    AccessHistory() = default;
    AccessHistory(const AccessHistory& other)
        : writer_(other.writer_),
          readers_(other.readers_),
          group_(other.group_ ? std::make_unique<Group>(*other.group_) : nullptr) {}
    AccessHistory(AccessHistory&&) = default;
    AccessHistory& operator=(AccessHistory&&) = default;
    AccessHistory& operator=(const AccessHistory& other) { return *this = AccessHistory(other); }
    ~AccessHistory() = default;

    template <class Around>
    void read(Task task, const Around& around) {
        wait_for_writers(task, around);
        add(readers_, task, around);
    }

    template <class Around>
    void change(Task task, const Around& around) {
        // Readers come after the writers before them, so they stand for these.
        if (readers_.empty()) {
            wait_for_writers(task, around);
        } else {
            wait_for_all(readers_, task, around);
        }
        group_.reset();
        writer_ = task;
        readers_.clear();
    }

    /// Changes it as one of a group, and returns the group's number: a new group takes `next_number`.
    template <class Around>
    std::uint32_t share(Task task, const SharedUse& use, std::uint32_t& next_number, const Around& around) {
        if (!group_ || !readers_.empty() || group_->use != use) begin_group(use, next_number++);
        wait_for_all(group_->before, task, around);
        add(group_->members, task, around);
        return group_->number;
    }

    /// Whether no task is left.
    template <class Around>
    bool over(const Around& around) const {
        const auto ended = [&](const Task& task) { return !around.in_flight(task); };
        return ended(writer_) && std::all_of(readers_.begin(), readers_.end(), ended) &&
               (!group_ || (std::all_of(group_->members.begin(), group_->members.end(), ended) &&
                            std::all_of(group_->before.begin(), group_->before.end(), ended)));
    }

  private:
    struct Group {
        SharedUse use;
        std::uint32_t number;
        std::vector<Task> before;  // what each of them waits for
        std::vector<Task> members{};
    };

    template <class Around>
    static void wait_for(const Task& other, const Task& task, const Around& around) {
        if (around.in_flight(other) && other != task) around.wait_for(other);
    }
    template <class Around>
    static void wait_for_all(const std::vector<Task>& others, const Task& task, const Around& around) {
        for (const Task& other : others) wait_for(other, task, around);
    }
    template <class Around>
    void wait_for_writers(const Task& task, const Around& around) const {
        if (group_) {
            wait_for_all(group_->members, task, around);
        } else {
            wait_for(writer_, task, around);
        }
    }

    // Tasks on a piece that is only ever read or shared are forgotten from time to time when they have ended.
    template <class Around>
    static void add(std::vector<Task>& tasks, const Task& task, const Around& around) {
        if (tasks.size() == tasks.capacity()) {
            std::erase_if(tasks, [&](const Task& each) { return !around.in_flight(each); });
            tasks.reserve(std::max<std::size_t>(4, 2 * tasks.size()));
        }
        tasks.push_back(task);
    }

    void begin_group(const SharedUse& use, std::uint32_t number) {
        std::vector<Task> before = std::move(readers_);
        if (before.empty() && group_) before = std::move(group_->members);
        if (before.empty() && !group_) before.push_back(writer_);
        group_ = std::make_unique<Group>(Group{use, number, std::move(before)});
        writer_ = {};
        readers_.clear();
    }

    Task writer_{};  // the last, where no group has changed it since
    std::vector<Task> readers_{};
    std::unique_ptr<Group> group_{};
};

}  // namespace tidemill::policy

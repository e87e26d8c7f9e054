#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tidemill/runtime/dynamic/dynamic_units.hpp"
#include "tidemill/runtime/dynamic/task_run.hpp"

namespace tidemill {

/// The tasks of one unit, one for each batch of frames of its segment, by the batch's first token, and what
/// each still waits for.
class UnitTasks {
  public:
    /// Kind of wait of a task.
    enum class Wait : std::uint8_t {
        others,      ///< for tasks of other units, or it has been handed out
        only_order,  ///< for the task on the batch before alone: the worker that runs that may go on with it
        nothing,
    };

    /// Slots from `first_slot` on are its tasks', one per token; `ready_group` is where they are counted when
    /// ready.
    UnitTasks(const DynamicUnit& unit, policy::TaskSlot first_slot, const CarriedFrame& first,
              std::uint32_t tokens, std::uint32_t ready_group)
        : unit_(&unit),
          first_slot_(first_slot),
          ready_group_(ready_group),
          goes_on_(unit.sequential && !unit.emits),
          next_(first),
          tasks_(tokens) {}

    const DynamicUnit& unit() const { return *unit_; }
    policy::TaskSlot slot_of(std::uint32_t token) const { return first_slot_ + token; }
    std::uint32_t token_of(policy::TaskSlot slot) const { return slot - first_slot_; }
    /// How many frames the batch has, and the token behind it.
    std::uint32_t batch_in(std::uint32_t token) const { return tasks_[token].frames; }
    std::uint32_t token_after(std::uint32_t token) const {
        return CarriedFrame{0, token}.ahead(batch_in(token), tokens()).token;
    }

    /// There is a task on this batch of so many frames.
    Wait create(const CarriedFrame& carried, std::uint32_t frames) {
        const bool in_turn = !unit_->sequential || next_.frame == carried.frame;
        const auto others = static_cast<std::uint32_t>(unit_->predecessors.size());
        tasks_[carried.token] = {others + (in_turn ? 0 : 1), frames};
        return wait_of(carried.token);
    }
    /// A task of another unit that it waited for is done.
    Wait release(std::uint32_t token) {
        --tasks_[token].waits_for;
        return wait_of(token);
    }
    /// Marks the current task of a sequential unit as done. Whether the one behind it, on a frame before
    /// `frames_end`, waits for nothing now.
    bool complete_in_order(std::uint64_t frames_end) {
        next_ = next_.ahead(batch_in(next_.token), tokens());
        if (next_.frame >= frames_end || --tasks_[next_.token].waits_for != 0) return false;
        lined_up_ -= goes_on_ ? batch_in(next_.token) : 0;
        return true;
    }

    const CarriedFrame& next() const { return next_; }

    /// Hands out the task on this batch, which is ready, and those that one worker may run behind it, on up
    /// to `most` frames in all. Returns on how many frames.
    std::uint32_t hand_out(std::uint32_t token, std::uint64_t most) {
        std::uint32_t frames = mark_handed_out(token);
        if (!goes_on_) return frames;
        for (token = token_after(token); tasks_[token].waits_for == 1; token = token_after(token)) {
            if (frames + batch_in(token) > most) break;
            lined_up_ -= batch_in(token);
            frames += mark_handed_out(token);
        }
        return frames;
    }

    /// Whether tasks from this batch on, on so many frames, wait for nothing but one unit's on the same
    /// frames, and so for the worker that runs those.
    bool waits_for_one(std::uint32_t token, std::uint32_t frames) const {
        std::uint32_t order = 0;  // the first one's turn would have come
        for (std::uint32_t seen = 0; seen < frames; seen += batch_in(token), token = token_after(token)) {
            if (tasks_[token].waits_for != 1 + order) return false;
            order = unit_->sequential ? 1 : 0;
        }
        return true;
    }
    /// Hands these out, to that worker.
    void hand_out_behind(std::uint32_t token, std::uint32_t frames) {
        for (std::uint32_t seen = 0; seen < frames; token = token_after(token))
            seen += mark_handed_out(token);
    }

    /// Frames with tasks that can be run behind a ready one.
    std::uint64_t lined_up() const { return lined_up_; }

    /// The task that is ready; of a sequential unit it is the only one.
    void set_ready(policy::TaskSlot slot) { ready_ = slot; }
    policy::TaskSlot ready() const { return ready_; }
    std::uint32_t ready_group() const { return ready_group_; }

    /// Its last task has more to emit, of the frame that it has begun.
    void note_again() { resumes_ = true; }
    bool take_resumed() { return std::exchange(resumes_, false); }

  private:
    struct Task {
        std::uint32_t waits_for = 0;  // predecessors, and the batch before
        std::uint32_t frames = 1;     // of the batch
    };

    // Handed out, whatever it still waits for: the worker that runs that, runs it, too.
    static constexpr std::uint32_t kHandedOut = 1u << 31;

    std::uint32_t tokens() const { return static_cast<std::uint32_t>(tasks_.size()); }

    std::uint32_t mark_handed_out(std::uint32_t token) {
        tasks_[token].waits_for |= kHandedOut;
        return batch_in(token);
    }

    Wait wait_of(std::uint32_t token) {
        const Task& task = tasks_[token];
        if (task.waits_for == 0) return Wait::nothing;
        if (task.waits_for > 1 || !goes_on_ || next_.token == token) return Wait::others;
        lined_up_ += task.frames;
        return Wait::only_order;
    }

    const DynamicUnit* unit_;
    policy::TaskSlot first_slot_;
    std::uint32_t ready_group_;
    bool goes_on_;  // the worker that runs a task of it may go on with the next one
    bool resumes_ = false;
    CarriedFrame next_;  // of a sequential unit: the first that is not done
    policy::TaskSlot ready_ = policy::kNoTask;
    std::uint64_t lined_up_ = 0;  // frames that wait for order alone, where it goes on
    std::vector<Task> tasks_;     // per token, where a batch begins there
};

}  // namespace tidemill

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tidemill/run/dynamic/dynamic_units.hpp"
#include "tidemill/run/dynamic/task_run.hpp"

namespace tidemill {

/// The tasks of one unit, one for each token of its segment, and what each still waits for.
class UnitTasks {
  public:
    /// What a task waits for.
    enum class Wait : std::uint8_t {
        others,      ///< for tasks of other units
        only_order,  ///< for the task on the frame before alone: who runs that may go on with it
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
          waits_for_(tokens, 0) {}

    const DynamicUnit& unit() const { return *unit_; }
    policy::TaskSlot slot_of(std::uint32_t token) const { return first_slot_ + token; }
    std::uint32_t token_of(policy::TaskSlot slot) const { return slot - first_slot_; }
    /// Those of the frame before and behind.
    std::uint32_t token_before(std::uint32_t token) const { return (token == 0 ? tokens() : token) - 1; }
    std::uint32_t token_after(std::uint32_t token) const { return token + 1 == tokens() ? 0 : token + 1; }

    /// There is a task on this frame.
    Wait create(const CarriedFrame& carried) {
        const bool in_turn = !unit_->sequential || next_.frame == carried.frame;
        waits_for_[carried.token] =
            static_cast<std::uint32_t>(unit_->predecessors.size()) + (in_turn ? 0 : 1);
        return wait_of(carried.token);
    }
    /// A task of another unit that it waited for is done.
    Wait release(std::uint32_t token) {
        --waits_for_[token];
        return wait_of(token);
    }
    /// Of a sequential unit, the task whose turn it was is done. Whether the one behind it, on a frame
    /// before `frames_end`, waits for nothing now.
    bool complete_in_order(std::uint64_t frames_end) {
        next_ = next_.next(tokens());
        if (next_.frame >= frames_end || --waits_for_[next_.token] != 0) return false;
        lined_up_ -= goes_on_ ? 1 : 0;
        return true;
    }
    const CarriedFrame& next() const { return next_; }

    /// How many tasks from this one on, up to `most`, one worker may run one after the other.
    std::uint32_t run_length(std::uint32_t token, std::uint64_t most) const {
        std::uint32_t length = 1;
        if (!goes_on_) return length;
        for (token = token_after(token); length < most && waits_for_[token] == 1; token = token_after(token))
            ++length;
        return length;
    }

    /// Tasks that can be run behind a ready one.
    std::uint64_t lined_up() const { return lined_up_; }

    /// The task that is ready; of a sequential unit it is the only one.
    void set_ready(policy::TaskSlot slot) { ready_ = slot; }
    policy::TaskSlot ready() const { return ready_; }
    std::uint32_t ready_group() const { return ready_group_; }

    /// Its last task has more to emit, of the frame that it has begun.
    void note_again() { resumes_ = true; }
    bool take_resumed() { return std::exchange(resumes_, false); }

  private:
    std::uint32_t tokens() const { return static_cast<std::uint32_t>(waits_for_.size()); }

    Wait wait_of(std::uint32_t token) {
        if (waits_for_[token] == 0) return Wait::nothing;
        if (waits_for_[token] > 1 || !goes_on_ || next_.token == token) return Wait::others;
        ++lined_up_;
        return Wait::only_order;
    }

    const DynamicUnit* unit_;
    policy::TaskSlot first_slot_;
    std::uint32_t ready_group_;
    bool goes_on_;  // who runs a task of it may go on with the next one
    bool resumes_ = false;
    CarriedFrame next_;  // of a sequential unit: the first that is not done
    policy::TaskSlot ready_ = policy::kNoTask;
    std::uint64_t lined_up_ = 0;            // tasks that wait for order alone, where it goes on
    std::vector<std::uint32_t> waits_for_;  // per token: predecessors, and the frame before
};

}  // namespace tidemill

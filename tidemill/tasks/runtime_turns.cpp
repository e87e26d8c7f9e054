// How threads take turns, and what each does between them.
#include <algorithm>
#include <mutex>
#include <utility>

#include "tidemill/platform/tick_clock.hpp"
#include "tidemill/tasks/runtime.hpp"

namespace tidemill {

using policy::TaskSlot;

void Tasks::Runtime::serve(std::size_t index) {
    Seat& seat = seats_[index];
    while (true) {
        Seat* other = nullptr;
        Seat* program = nullptr;
        {
            const std::lock_guard lock(turn_);
            settle(index);
            if (take(index)) {
                other = next_to_wake(tasks_.expected_ticks(seat.tasks));
            } else if (closing_) {
                break;
            }
            program = program_to_wake();
        }
        if (program) program->bell.ring();
        if (other) other->bell.ring();
        if (!seat.tasks.empty()) {
            run(seat);
        } else if (!rest(index)) {
            hand_over();
        }
    }
}

// Runs tasks in the program's thread, until it may go on.
void Tasks::Runtime::help_until(bool (Runtime::*is_enough)() const) {
    Seat& seat = seats_[0];
    while (true) {
        bool waits = false;
        Seat* other = nullptr;
        {
            const std::lock_guard lock(turn_);
            settle(0);
            waits = program_waits_ = !(this->*is_enough)();
            const bool takes = waits && options_.program_helps && take(0);
            if (takes || !waits) other = next_to_wake(tasks_.expected_ticks(seat.tasks));
        }
        if (other) other->bell.ring();
        if (!waits) return;
        if (seat.tasks.empty()) {
            rest(0);
        } else {
            helping_ = true;
            run(seat);
            helping_ = false;
        }
    }
}

// Whether it was woken; else nothing has happened for some time.
bool Tasks::Runtime::rest(std::size_t index) {
    seats_[index].bell.wait(options_.waiting);
    const std::lock_guard lock(turn_);
    seats_[index].bell.reset();
    const bool woken = std::erase(idle_, index) == 0;
    seats_[index].waited = !woken;
    hungry_.store(!idle_.empty(), std::memory_order_relaxed);
    return woken;
}

void Tasks::Runtime::run(Seat& seat) {
    std::uint64_t before = ticks();
    for (std::size_t i = 0; i < seat.tasks.size();) {
        seat.start.store(before, std::memory_order_relaxed);
        const std::uint64_t ran = seat.ran;
        const std::size_t count = run_alike(seat, i);
        const std::uint64_t now = ticks();
        seat.ticks.insert(seat.ticks.end(), count, (now - before) / count);
        seat.work_ticks += now - before;
        if (options_.observe && seat.ran > ran) observe(seat, seat.tasks[i], before, now);
        before = now;
        i += count;
    }
    seat.start.store(0, std::memory_order_relaxed);
}

void Tasks::Runtime::observe(const Seat& seat, TaskSlot task, std::uint64_t start, std::uint64_t end) {
    options_.observe(
        {tasks_.kernel_of(task), tasks_.number_of(task), tasks_.iteration_of(task), seat.worker, start, end});
}

// Runs a task and those of the same kernel right behind it; returns how many. Several at a time are so short
// that a look at the clock for each would be much of what they cost.
std::size_t Tasks::Runtime::run_alike(Seat& seat, std::size_t first) {
    const policy::KernelId kernel = tasks_.kernel_of(seat.tasks[first]);
    std::size_t end = first;
    do {
        run_task(seat, seat.tasks[end++]);
    } while (!options_.observe && end < seat.tasks.size() && tasks_.kernel_of(seat.tasks[end]) == kernel);
    return end - first;
}

void Tasks::Runtime::run_task(Seat& seat, TaskSlot task) {
    const std::uint64_t number = tasks_.number_of(task);
    const policy::KernelId kernel = tasks_.kernel_of(task);
    seat.number.store(number, std::memory_order_relaxed);
    seat.kernel.store(kernel, std::memory_order_relaxed);
    if (number < limit_.load(std::memory_order_relaxed)) {
        try {
            bodies_[task].call();
        } catch (...) {
            seat.failures.push_back({number, kernel, std::current_exception()});
            drop_from(number);
        }
        ++seat.ran;
    } else {
        ++seat.dropped;
    }
    bodies_[task].clear();
}

void Tasks::Runtime::settle(std::size_t index) {
    Seat& seat = seats_[index];
    for (std::size_t i = 0; i < seat.tasks.size(); ++i) {
        const TaskSlot task = seat.tasks[i];
        if (throttle_) throttle_->completed(tasks_.iteration_of(task));
        tasks_.complete(seat.worker, task, seat.ticks[i]);
        freed_.push_back(task);
    }
    for (Failure& failure : seat.failures) {
        if (!failure_ || failure.number < failure_->number) failure_ = std::move(failure);
    }
    if (!seat.tasks.empty()) tasks_.tick(static_cast<std::uint64_t>(to_ns(ticks())));
    soon_back_ -= std::exchange(seat.soon_back, false) ? 1 : 0;
    seat.tasks.clear();
    seat.ticks.clear();
    seat.failures.clear();
}

// Two threads that hand each other short tasks are slower than one. So little work is left to whoever is
// about to come back, and the program's thread, where it helps, keeps tasks to itself that are shorter than
// the way to another core. Who has waited for milliseconds takes it all the same: the program may be busy
// elsewhere, or a task have got stuck.
bool Tasks::Runtime::left_to_others(std::size_t index) const {
    if (seats_[index].waited) return false;
    return (tasks_.ready_ticks() < bundle_ticks_ && soon_back_ > 0) || (index > 0 && left_to_program());
}

bool Tasks::Runtime::left_to_program() const {
    const bool away = !seats_[0].tasks.empty() && !seats_[0].soon_back;
    return options_.program_helps && !away &&
           kMoves * tasks_.work_ticks() < tasks_.in_flight() * bundle_ticks_;
}

// Whether there is something to do; if not, the seat is among the idle ones.
bool Tasks::Runtime::take(std::size_t index) {
    Seat& seat = seats_[index];
    if (!left_to_others(index)) tasks_.take(seat.worker, hungry(), seat.tasks);
    seat.waited = false;
    if (!seat.tasks.empty()) {
        seat.soon_back = tasks_.expected_ticks(seat.tasks) < bundle_ticks_;
        soon_back_ += seat.soon_back ? 1 : 0;
        return true;
    }
    idle_.push_back(index);
    hungry_.store(true, std::memory_order_relaxed);
    return false;
}

std::size_t Tasks::Runtime::hungry() const {
    return tasks_.ready_ticks() < bundle_ticks_ ? 0 : idle_.size();
}

Tasks::Runtime::Seat* Tasks::Runtime::next_to_wake(std::uint64_t own_ticks) {
    if (idle_.empty() || tasks_.ready_tasks() == 0 || left_to_program()) return nullptr;
    if (tasks_.ready_ticks() + own_ticks < bundle_ticks_ && own_ticks > 0) return nullptr;
    Seat& seat = seats_[idle_.back()];
    idle_.pop_back();
    return &seat;
}

// The program's thread, when what it waits for may have come, or tasks that are left to it.
Tasks::Runtime::Seat* Tasks::Runtime::program_to_wake() {
    const bool room = freed_.size() >= std::min(kRoom, numbers_.size() / 2 + 1);
    const bool works = tasks_.ready_tasks() > 0 && left_to_program() && std::erase(idle_, 0) > 0;
    if (!program_waits_ || !(room || works || is_done())) return nullptr;
    program_waits_ = false;
    return &seats_[0];
}

// For some tasks at once, since going from spawning to helping and back is a turn; for fewer, where there is
// nothing else to do.
bool Tasks::Runtime::has_room() const {
    const std::size_t some = std::clamp<std::size_t>(numbers_.size() / 16, 1, kGathered);
    return freed_.size() >= some || (!freed_.empty() && tasks_.ready_tasks() == 0);
}

bool Tasks::Runtime::may_begin_iteration() const {
    return is_done() || iteration_ - throttle_->oldest_iteration() < options_.window.iterations;
}

}  // namespace tidemill

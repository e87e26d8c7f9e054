#include "tidemill/runtime/tasks/spawn_board.hpp"

#include <algorithm>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/threads/patience.hpp"

namespace tidemill {

using policy::TaskSlot;

namespace {

ReadyTasks ready_of(const TasksOptions& options, std::uint64_t bundle_ticks, bridge::Placement* placement) {
    return {policy::make_policy(options.policy, options.kinds, options.adapting), options.kinds, bundle_ticks,
            placement};
}

std::unique_ptr<bridge::Placement> placement_of(const TasksOptions& options) {
    if (!options.places || std::ranges::max(options.kinds) == 0) return nullptr;
    return std::make_unique<bridge::Placement>(
        bridge::Placement::Settings{options.kinds, ticks, 1e3 / ns_per_tick()});
}

// The slots are what limits tasks.
std::optional<policy::Throttle> throttle_of(const policy::Window& window) {
    policy::Throttle throttle(window);
    if (window.iterations == policy::Window::kUnlimited) return std::nullopt;
    return throttle;
}

}  // namespace

SpawnBoard::SpawnBoard(const TasksOptions& options, std::uint64_t bundle_ticks, Program program)
    : placement_(placement_of(options)),
      tasks_(ready_of(options, bundle_ticks, placement_.get()), options.window.tasks, bundle_ticks,
             placement_.get()),
      bundle_ticks_(bundle_ticks),
      program_(program),
      slots_(options.window.tasks),
      most_iterations_(options.window.iterations),
      throttle_(throttle_of(options.window)) {
    freed_.reserve(slots_);
}

void SpawnBoard::add(const Spawns& spawns) {
    tasks_.add(spawns);
    most_in_flight_ = std::max(most_in_flight_, tasks_.in_flight());
    if (!throttle_) return;
    for (const Spawn& spawn : spawns.tasks) throttle_->created(spawn.iteration);
}

void SpawnBoard::confine(policy::TaskTypeId type, policy::KindSet kinds) {
    confined_ = confined_ || kinds != policy::kAnyKind;
    tasks_.confine(type, kinds);
}

void SpawnBoard::settle(WorkerId worker, HeldTasks& held) {
    if (held.empty()) return;
    if (worker == program_.worker) program_is_busy_ = false;
    soon_back_ -= std::exchange(held.soon_back, false) ? 1 : 0;
    for (std::size_t i = 0; i < held.tasks.size(); ++i) {
        const TaskSlot task = held.tasks[i];
        if (throttle_) throttle_->completed(tasks_.iteration_of(task));
        tasks_.complete(worker, task, held.ticks[i]);
        freed_.push_back(task);
    }
    if (held.failure && (!failure_ || held.failure->number < failure_->number))
        failure_ = std::move(held.failure);
    done_ += std::exchange(held.done, {});
    tasks_.tick(static_cast<std::uint64_t>(to_ns(held.ended_tick)));
    held.tasks.clear();
    held.ticks.clear();
    held.failure.reset();
}

void SpawnBoard::take(WorkerId worker, std::size_t idle_peers, HeldTasks& held) {
    held.expected_ticks = tasks_.take(worker, idle_peers, held.tasks);
    if (held.empty()) return;
    held.soon_back = held.expected_ticks < bundle_ticks_;
    soon_back_ += held.soon_back ? 1 : 0;
    if (worker == program_.worker) program_is_busy_ = !held.soon_back;
}

long SpawnBoard::patience_ns(WorkerId worker) const {
    return placement_ ? patience_of(placement_->patience_ticks(worker)) : kPatienceNs;
}

// Two threads that hand each other short tasks are slower than one. So little work is left to a worker that
// is about to come back, and the program's thread, where it helps, keeps tasks to itself that are shorter
// than the way to another core.
bool SpawnBoard::left_to_others() const {
    return soon_back_ > 0 && ready().of(0).ticks < bundle_ticks_;
}

bool SpawnBoard::left_to_program() const {
    constexpr std::uint64_t kMoves = 16;  // to move so many tasks to another core costs a bundle
    return program_.helps && !program_is_busy_ &&
           kMoves * tasks_.work_ticks() < tasks_.in_flight() * bundle_ticks_;
}

bool SpawnBoard::reaches(Goal goal, std::uint64_t iteration) {
    iteration_ = iteration;
    awaited_ = goal;
    if (!is_reached(goal)) return false;
    awaited_.reset();
    return true;
}

// Room is for some tasks at once, since going from spawning to helping and back is a turn; for fewer, where
// there is nothing else to do.
bool SpawnBoard::is_reached(Goal goal) const {
    constexpr std::size_t kSome = 64;
    if (goal == Goal::all_done) return tasks_.in_flight() == 0;
    if (goal == Goal::iteration) {
        return tasks_.in_flight() == 0 || iteration_ - throttle_->oldest_iteration() < most_iterations_;
    }
    const std::size_t some = std::clamp<std::size_t>(slots_ / 16, 1, kSome);
    return freed_.size() >= some || (!freed_.empty() && ready().empty());
}

// The program, when what it waits for has come. It is not woken for little room.
std::optional<policy::WorkerId> SpawnBoard::released() {
    constexpr std::size_t kRoom = 256;
    if (!awaited_) return std::nullopt;
    const bool comes = *awaited_ == Goal::room
                           ? tasks_.in_flight() == 0 || freed_.size() >= std::min(kRoom, slots_ / 2 + 1)
                           : is_reached(*awaited_);
    if (!comes) return std::nullopt;
    awaited_.reset();
    return program_.worker;
}

TasksReport SpawnBoard::take_report() {
    const TasksDone done = std::exchange(done_, {});
    return {done.ran, done.dropped, to_ns(done.work_ticks) / 1e3, not_pinned_};
}

void SpawnBoard::move_freed_to(std::vector<TaskSlot>& free) {
    free.insert(free.end(), freed_.begin(), freed_.end());
    freed_.clear();
}

}  // namespace tidemill

#include "tidemill/tasks/runtime.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "tidemill/platform/tick_clock.hpp"
#include "tidemill/policy/policy_error.hpp"

namespace tidemill {

using policy::TaskSlot;

namespace {

constexpr std::uint64_t kMostSlots = 65536;

TasksOptions checked(TasksOptions options) {
    if (options.workers == 0) throw policy::PolicyError("task programs with 0 workers: give 1 or more");
    if (options.window.bytes != policy::Window::kUnlimited) {
        throw policy::PolicyError("a window in bytes is for graphs: a task program's memory is its own");
    }
    options.window.tasks = std::min(options.window.tasks, kMostSlots);
    return options;
}

// The slots are what limits tasks.
std::optional<policy::Throttle> throttle_of(const policy::Window& window) {
    policy::Throttle throttle(window);
    if (window.iterations == policy::Window::kUnlimited) return std::nullopt;
    return throttle;
}

}  // namespace

Tasks::Runtime::Runtime(TasksOptions options)
    : options_(checked(std::move(options))),
      bundle_ticks_(static_cast<std::uint64_t>(static_cast<double>(options_.bundle.count()) / ns_per_tick())),
      numbers_(options_.window.tasks, kNever),
      regions_(numbers_),
      bodies_(std::make_unique<TaskBody[]>(options_.window.tasks)),
      tasks_(policy::make_policy(options_.policy, static_cast<unsigned>(options_.workers), options_.adapting),
             options_.window.tasks, bundle_ticks_),
      throttle_(throttle_of(options_.window)) {
    for (std::size_t slot = options_.window.tasks; slot-- > 0;) free_.push_back(static_cast<TaskSlot>(slot));
    freed_.reserve(free_.size());
    const std::size_t threads = options_.workers - (options_.program_helps ? 1 : 0);
    for (std::size_t s = 0; s <= threads; ++s) {
        seats_.emplace_back().worker = static_cast<policy::WorkerId>(options_.program_helps ? s : s - 1);
    }
    std::vector<ThreadPool::Job> jobs;
    for (std::size_t s = 1; s <= threads; ++s) jobs.emplace_back([this, s] { serve(s); });
    pool_.start(std::move(jobs));
}

Tasks::Runtime::~Runtime() {
    try {
        wait();
    } catch (const TaskError&) {  // the destructor's promise: what nobody waited for is lost
    }
    {
        const std::lock_guard lock(turn_);
        closing_ = true;
    }
    for (Seat& seat : seats_) seat.bell.ring();
}

void Tasks::Runtime::check_spawner() const {
    if (std::this_thread::get_id() == owner_ && !helping_) return;
    throw TasksError(
        "a task spawns, or another thread than the one that made Tasks: spawn from that thread, between "
        "tasks");
}

TaskKernel Tasks::Runtime::kernel(std::string name) {
    check_spawner();
    const std::lock_guard lock(turn_);
    return {sites_.add(std::move(name))};
}

TaskKernel Tasks::Runtime::kernel_at(const std::source_location& place) {
    check_spawner();
    const policy::KernelId known = sites_.find(place);
    if (known != CallSites::kUnknown) return {known};
    const std::lock_guard lock(turn_);
    return {sites_.add(place)};
}

TaskBody* Tasks::Runtime::begin_spawn() {
    check_spawner();
    if (limit_.load(std::memory_order_relaxed) != kNever) {
        ++dropped_;
        return nullptr;
    }
    if (free_.empty()) {
        hand_over();
        help_until(&Runtime::has_room);
        const std::lock_guard lock(turn_);
        free_.insert(free_.end(), freed_.begin(), freed_.end());
        freed_.clear();
    }
    return &bodies_[free_.back()];
}

void Tasks::Runtime::finish_spawn(TaskKernel kernel, std::span<const Access> accesses,
                                  std::int32_t priority) {
    const TaskSlot slot = free_.back();
    next_.kernel = kernel.id;
    next_.task = {slot, spawned_++};
    next_.iteration = iteration_;
    next_.priority = priority;
    numbers_[slot] = next_.task.number;
    next_predecessors_.clear();
    for (const Access& access : accesses) regions_.note(next_.task, access, next_predecessors_);
    next_.predecessors = static_cast<std::uint32_t>(next_predecessors_.size());
    free_.pop_back();
    bool wanted = false;
    {
        const std::lock_guard lock(gathering_);
        spawns_.push_back(next_);
        predecessors_.insert(predecessors_.end(), next_predecessors_.begin(), next_predecessors_.end());
        wanted = spawns_.size() == kGathered ||
                 (hungry_.load(std::memory_order_relaxed) && ticks() - handed_over_at_ > bundle_ticks_);
    }
    if (wanted) hand_over();
}

void Tasks::Runtime::hand_over() {
    Seat* other = nullptr;
    {
        const std::lock_guard gathering(gathering_);
        const std::lock_guard lock(turn_);
        tasks_.add(spawns_, predecessors_);
        if (throttle_) {
            for (const Spawn& spawn : spawns_) throttle_->created(spawn.iteration);
        }
        most_in_flight_ = std::max(most_in_flight_, tasks_.in_flight());
        other = next_to_wake(0);
        spawns_.clear();
        predecessors_.clear();
        handed_over_at_ = ticks();
    }
    if (other) other->bell.ring();
}

void Tasks::Runtime::next_iteration() {
    check_spawner();
    ++iteration_;
    if (!throttle_) return;
    hand_over();
    help_until(&Runtime::may_begin_iteration);
}

TasksReport Tasks::Runtime::wait() {
    check_spawner();
    hand_over();
    help_until(&Runtime::is_done);
    regions_.clear();
    const std::lock_guard lock(turn_);
    TasksReport report{0, std::exchange(dropped_, 0), 0};
    for (Seat& seat : seats_) {
        report.ran += std::exchange(seat.ran, 0);
        report.dropped += std::exchange(seat.dropped, 0);
        report.work_us += to_ns(std::exchange(seat.work_ticks, 0)) / 1e3;
    }
    limit_.store(kNever, std::memory_order_relaxed);
    if (const auto failure = std::exchange(failure_, std::nullopt)) {
        throw TaskError(sites_.name(failure->kernel), failure->number, failure->cause);
    }
    return report;
}

void Tasks::Runtime::drop_from(std::uint64_t number) {
    std::uint64_t seen = limit_.load(std::memory_order_relaxed);
    while (number < seen && !limit_.compare_exchange_weak(seen, number, std::memory_order_relaxed)) {
    }
}

std::vector<RunningTask> Tasks::Runtime::running(std::chrono::milliseconds at_least) const {
    const std::uint64_t now = ticks();
    std::vector<RunningTask> found;
    const std::lock_guard lock(turn_);
    for (const Seat& seat : seats_) {
        const std::uint64_t start = seat.start.load(std::memory_order_relaxed);
        const double seconds = start == 0 || start > now ? 0 : to_ns(now - start) / 1e9;
        if (start == 0 || seconds < std::chrono::duration<double>(at_least).count()) continue;
        found.push_back({sites_.name(seat.kernel.load(std::memory_order_relaxed)),
                         seat.number.load(std::memory_order_relaxed), seat.worker, seconds});
    }
    return found;
}

std::size_t Tasks::Runtime::most_in_flight() const {
    const std::lock_guard lock(turn_);
    return most_in_flight_;
}

}  // namespace tidemill

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
    for (std::size_t s = 1; s <= threads; ++s) seats_[s].thread = std::thread([this, s] { serve(s); });
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
    for (Seat& seat : seats_) {
        if (seat.thread.joinable()) seat.thread.join();
    }
}

void Tasks::Runtime::check_spawner() const {
    if (std::this_thread::get_id() == owner_ && !helping_) return;
    throw std::logic_error(
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

// For some tasks at once, since going from spawning to helping and back is a turn; for fewer, where there is
// nothing else to do.
bool Tasks::Runtime::has_room() const {
    const std::size_t some = std::clamp<std::size_t>(numbers_.size() / 16, 1, kGathered);
    return freed_.size() >= some || (!freed_.empty() && tasks_.ready_tasks() == 0);
}

TaskBody* Tasks::Runtime::begin_spawn() {
    check_spawner();
    if (limit_.load(std::memory_order_relaxed) != kNever) {
        ++dropped_;
        return nullptr;
    }
    if (free_.empty()) {
        hand_over();
        if (free_.empty()) help_until([this] { return has_room(); });
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
    help_until([this] {
        return tasks_.in_flight() == 0 ||
               iteration_ - throttle_->oldest_iteration() < options_.window.iterations;
    });
}

TasksReport Tasks::Runtime::wait() {
    check_spawner();
    hand_over();
    help_until([this] { return tasks_.in_flight() == 0; });
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

// Runs tasks in the program's thread until `done`, asked by whoever has the turn, holds.
template <class Done>
void Tasks::Runtime::help_until(Done done) {
    Seat& seat = seats_[0];
    while (true) {
        bool waits = false;
        Seat* other = nullptr;
        {
            const std::lock_guard lock(turn_);
            settle(0);
            waits = program_waits_ = !done();
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
    if (!program_waits_ || !(room || works || tasks_.in_flight() == 0)) return nullptr;
    program_waits_ = false;
    return &seats_[0];
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

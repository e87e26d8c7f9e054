#include "tidemill/runtime/tasks/runtime.hpp"

#include <algorithm>
#include <utility>

#include <cxxabi.h>
#include <fmt/format.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/machine/inside_run.hpp"
#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/scheduling/dynamic/policy_error.hpp"

namespace tidemill {

using policy::WorkerId;

namespace {

constexpr std::uint64_t kMostSlots = 65536;

void check_count(const char* what, std::size_t given, std::size_t workers) {
    if (given == 0 || given == workers) return;
    throw TasksError(fmt::format("{} are given for {} workers, there are {}: give one for each, or none",
                                 what, given, workers));
}

TasksOptions checked(TasksOptions options) {
    if (options.workers == 0) throw policy::PolicyError("task programs with 0 workers: give 1 or more");
    if (options.window.bytes != policy::Window::kUnlimited) {
        throw policy::PolicyError("a window in bytes is for graphs: a task program's memory is its own");
    }
    check_count("sets of cores", options.cores.size(), options.workers);
    check_count("kinds of cores", options.kinds.size(), options.workers);
    if (options.kinds.empty()) options.kinds.assign(options.workers, 0);
    options.window.tasks = std::min(options.window.tasks, kMostSlots);
    return options;
}

}  // namespace

Tasks::Runtime::Runtime(TasksOptions options)
    : options_(checked(std::move(options))),
      bundle_ticks_(static_cast<std::uint64_t>(static_cast<double>(options_.bundle.count()) / ns_per_tick())),
      program_(options_.program_helps ? 0 : static_cast<WorkerId>(options_.workers)),
      order_(options_.window.tasks),
      bodies_(std::make_unique<internal::TaskBody[]>(options_.window.tasks)),
      gathered_(bundle_ticks_),
      board_(options_, bundle_ticks_, {program_, options_.program_helps}),
      workers_(board_, {options_.kinds, bundle_ticks_, options_.waiting}),
      shared_{board_.tasks(), bodies_.get(), limit_, options_.observe, [this] { hand_over(); }} {
    for (std::size_t w = 0; w < options_.workers; ++w) {
        crew_.emplace_back(shared_, w);
        pins_.emplace_back(options_.cores, w);
    }
    if (!options_.program_helps) crew_.emplace_back(shared_, program_);
    program_worker_ = &crew_[program_];
    start_threads();
}

void Tasks::Runtime::start_threads() {
    std::vector<ThreadPool::Job> jobs;
    for (WorkerId w = 0; w < options_.workers; ++w) {
        if (w != program_) jobs.emplace_back([this, w] { work_as(w); });
    }
    pool_.start(std::move(jobs));
    if (options_.program_helps) pin(program_);
}

Tasks::Runtime::~Runtime() {
    internal::thrown_by([this] { wait(); });  // the destructor's promise: what nobody waited for is lost
    workers_.look([this] { closing_ = true; });
    workers_.ring_all();
}

// A task that ends its thread ends it when Tasks goes: until then there would be one too few.
void Tasks::Runtime::work_as(WorkerId worker) {
    const InsideRun inside(this);
    pin(worker);
    const auto serve = [&] { workers_.serve(worker, crew_[worker], [this] { return closing_; }); };
    try {
        serve();
    } catch (const abi::__forced_unwind&) {
        serve();
        throw;
    }
    pins_[worker].unpin();
}

void Tasks::Runtime::pin(WorkerId worker) {
    pins_[worker].pin();
    const std::string refusal = pins_[worker].refusal();
    if (refusal.empty()) return;
    workers_.look([&] { board_.note_not_pinned(fmt::format("worker {}: {}", worker, refusal)); });
}

void Tasks::Runtime::check_spawner() const {
    if (!process_.is_here())
        throw TasksError(
            "Tasks was made before the process was forked, which left its threads behind: make it in the new "
            "process");
    if (std::this_thread::get_id() == owner_ && !program_worker_->is_running()) return;
    throw TasksError(
        "a task spawns, or another thread than the one that made Tasks: spawn from that thread, between "
        "tasks");
}

TaskType Tasks::Runtime::type(std::string name, policy::KindSet kinds) {
    check_spawner();
    const bool runs =
        std::ranges::any_of(options_.kinds, [=](policy::KindId kind) { return (kinds >> kind & 1) != 0; });
    if (!runs) {
        throw TasksError(
            fmt::format("no worker may run tasks of task type {}: allow one of the workers' kinds", name));
    }
    return workers_.look([&] {
        const policy::TaskTypeId id = sites_.add(std::move(name));
        board_.confine(id, kinds);
        return TaskType{id};
    });
}

TaskType Tasks::Runtime::type_at(const std::source_location& place) {
    check_spawner();
    const policy::TaskTypeId known = sites_.find(place);
    if (known != CallSites::kUnknown) return {known};
    return workers_.look([&] { return TaskType{sites_.add(place)}; });
}

internal::TaskBody* Tasks::Runtime::begin_spawn(TaskType type, std::span<const Access> accesses,
                                                bool adds_to_parts) {
    check_spawner();
    if (const std::string wrong = contradiction(accesses); !wrong.empty()) {
        throw TasksError(fmt::format("a task spawned at {}: {}", sites_.name(type.id), wrong));
    }
    if (!adds_to_parts) internal::check_added_to(accesses, [](const Access&) { return false; });
    if (limit_.is_set()) {
        ++dropped_;
        return nullptr;
    }
    if (order_.free_slots().empty()) {
        hand_over();
        help_until(SpawnBoard::Goal::room);
        workers_.look([this] { board_.move_freed_to(order_.free_slots()); });
    }
    return &bodies_[order_.next_slot()];
}

void Tasks::Runtime::finish_spawn(TaskType type, std::span<const Access> accesses, std::int32_t priority) {
    const Spawn& spawn = order_.spawn(type.id, accesses, priority);
    if (gathered_.add(spawn, order_.waits(), workers_.anyone_idle())) hand_over();
}

void Tasks::Runtime::hand_over() {
    gathered_.take([this](const Spawns& spawns) { workers_.change([&] { board_.add(spawns); }); });
}

void Tasks::Runtime::next_iteration() {
    check_spawner();
    order_.next_iteration();
    if (options_.window.iterations == policy::Window::kUnlimited) return;
    hand_over();
    help_until(SpawnBoard::Goal::iteration);
}

// Runs tasks in the program's thread, where it helps, until it may go on.
void Tasks::Runtime::help_until(SpawnBoard::Goal goal) {
    const InsideRun inside(this);
    try {
        workers_.serve(program_, crew_[program_], [&] { return board_.reaches(goal, order_.iteration()); });
    } catch (const abi::__forced_unwind&) {  // others may wait for what it holds
        workers_.serve(program_, crew_[program_], [] { return true; });
        throw;
    }
}

bool Tasks::Runtime::can_end() const {
    return process_.is_here() && !InsideRun::of(this);
}

TasksReport Tasks::Runtime::wait() {
    check_spawner();
    hand_over();
    help_until(SpawnBoard::Goal::all_done);
    order_.forget_memory();
    limit_.lift();
    return workers_.look([this] {
        TasksReport report = board_.take_report();
        report.dropped += std::exchange(dropped_, 0);
        if (const auto failure = board_.take_failure())
            throw TaskError(sites_.name(failure->type), failure->number, failure->cause);
        return report;
    });
}

std::vector<RunningTask> Tasks::Runtime::running(std::chrono::milliseconds at_least) const {
    const std::uint64_t now = ticks();
    std::vector<RunningTask> found;
    for (const SpawnWorker& worker : crew_) {
        const auto watched = worker.running();
        if (!watched) continue;
        const double seconds = watched->start > now ? 0 : to_ns(now - watched->start) / 1e9;
        if (seconds < std::chrono::duration<double>(at_least).count()) continue;
        found.push_back({workers_.look([&] { return sites_.name(watched->type); }), watched->number,
                         worker.index(), seconds});
    }
    return found;
}

std::size_t Tasks::Runtime::most_in_flight() const {
    return workers_.look([this] { return board_.most_in_flight(); });
}

}  // namespace tidemill

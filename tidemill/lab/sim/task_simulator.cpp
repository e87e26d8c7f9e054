#include "tidemill/lab/sim/task_simulator.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <set>

#include <fmt/format.h>

#include "tidemill/scheduling/model/internal/jitter.hpp"
#include "tidemill/scheduling/static/interruption.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"
#include "tidemill/scheduling/unequal/placement.hpp"

namespace tidemill {

namespace {

using policy::kNoTask;
using policy::TaskSlot;
using policy::WorkerId;

// A task in flight, and after that as long as later ones may name it.
struct Node {
    std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t iteration = 0;
    policy::TaskTypeId type = 0;
    double work_us = 0;
    double begin_us = 0;
    std::uint64_t output_bytes = 0;
    std::uint32_t readers = 0;    // that have not completed
    std::uint32_t waits_for = 0;  // predecessors that have not completed
    bool completed = false;
    std::vector<TaskSlot> read{};        // whose outputs it reads
    std::vector<TaskSlot> successors{};  // in the order of creation
};

// Sums up a quantity over time.
class Gauge {
  public:
    void set(double value, double now_us) {
        integral_ += value_ * (now_us - since_us_);
        value_ = value;
        since_us_ = now_us;
    }
    double value() const { return value_; }
    double integral(double now_us) const { return integral_ + value_ * (now_us - since_us_); }

  private:
    double value_ = 0;
    double since_us_ = 0;
    double integral_ = 0;
};

constexpr TaskSlot kLook = kNoTask - 1;

struct Ending {
    double time_us;
    WorkerId worker;
    TaskSlot task;         // kNoTask: the master has created one; kLook: it was idle, and looks again
    std::uint64_t number;  // among equal times, the newest ends first

    bool operator>(const Ending& other) const {
        return time_us != other.time_us ? time_us > other.time_us : number < other.number;
    }
};

struct Stay {
    double begin_us = std::numeric_limits<double>::infinity();
    double end_us = 0;
};

class TaskSimulation {
  public:
    TaskSimulation(TaskProgram& program, const TaskMachine& machine, const TaskScheduling& scheduling,
                   const std::function<void(const RanTask&)>& observe)
        : program_(program),
          machine_(machine),
          scheduling_(scheduling),
          observe_(observe),
          own_policy_(scheduling.made == nullptr
                          ? policy::make_policy(scheduling.policy, kinds_of(machine), scheduling.adapting)
                          : nullptr),
          policy_(own_policy_ ? own_policy_.get() : scheduling.made),
          throttle_(scheduling.window),
          nodes_(remembered_tasks(scheduling.window)),
          iterations_(program.iterations()) {
        program_.restart();
        if (scheduling.placing != Placing::none) place_by_factors();
        for (WorkerId worker = 0; worker < machine.speeds.size(); ++worker) idle_.insert(worker);
        report_.tasks = program.tasks();
        report_.workers = machine.speeds.size();
    }

    SimulatedTasks run() {
        fetch();
        create_what_fits();
        issue_to_the_idle();
        while (!endings_.empty() && completed_ < program_.tasks()) step();
        if (completed_ < program_.tasks()) refuse_window();
        finish_report();
        return std::move(report_);
    }

  private:
    static std::vector<policy::KindId> kinds_of(const TaskMachine& machine) {
        std::vector<policy::KindId> kinds = machine.kinds;
        kinds.resize(machine.speeds.size());
        return kinds;
    }

    policy::KindSet kinds_for(policy::TaskTypeId type) const {
        const auto& kinds = scheduling_.type_kinds;
        return type < kinds.size() ? kinds[type] : policy::kAnyKind;
    }

    std::size_t remembered_tasks(const policy::Window& window) const {
        return std::bit_ceil(std::max<std::uint64_t>(1, program_.reach(window.iterations)));
    }

    TaskSlot slot_of(std::uint64_t number) const {
        return static_cast<TaskSlot>(number & (nodes_.size() - 1));
    }

    void step() {
        interruption_point();
        const Ending ending = endings_.top();
        endings_.pop();
        now_us_ = ending.time_us;
        if (ending.task == kNoTask) {
            creating_.set(0, now_us_);
            if (machine_.master_works) idle_.insert(kMaster);
            create_next();
        } else if (ending.task == kLook) {
            looks_us_[ending.worker] = kNever;
        } else {
            complete(ending.task, ending.worker);
        }
        create_what_fits();
        if (machine_.ends_together && !endings_.empty() && endings_.top().time_us == now_us_) return;
        issue_to_the_idle();
    }

    // The next task that the program will create, if there is one.
    void fetch() {
        next_is_there_ = created_ < program_.tasks();
        if (next_is_there_) program_.next(next_);
    }

    bool may_create() const {
        return next_is_there_ && throttle_.admits(next_.iteration, next_.reserved_bytes);
    }

    void create_what_fits() {
        if (machine_.create_us + machine_.change_us > 0) return start_creating();
        while (may_create()) create_next();
    }

    void start_creating() {
        if (creating_.value() > 0 || !may_create()) return;
        if (machine_.master_works && idle_.erase(kMaster) == 0) return;  // runs a task
        creating_.set(1, now_us_);
        endings_.push({now_us_ + creation_us(), kMaster, kNoTask, created_});
    }

    // The effect of a creation is known only when it is done, so the next one pays for it.
    double creation_us() {
        const std::uint64_t unpaid = policy_->rank_changes() - paid_changes_;
        paid_changes_ += unpaid;
        return machine_.create_us + machine_.change_us * static_cast<double>(unpaid);
    }

    void create_next() {
        const TaskSlot slot = slot_of(created_);
        predecessors_.clear();
        std::uint32_t waits_for = 0;
        for (const Predecessor& before : next_.predecessors) {
            Node& node = nodes_[slot_of(before.number)];
            if (node.number != before.number) continue;  // long completed
            predecessors_.push_back(slot_of(before.number));
            if (node.completed) continue;
            node.successors.push_back(slot);
            ++waits_for;
        }
        fill(nodes_[slot], waits_for);
        throttle_.created(next_.iteration, next_.reserved_bytes);
        report_.peak_tasks = std::max(report_.peak_tasks, throttle_.tasks());
        policy_->create({.slot = slot,
                         .type = next_.type,
                         .number = created_,
                         .iteration = next_.iteration,
                         .predecessors = predecessors_,
                         .kinds = kinds_for(next_.type)});
        ++created_;
        exclusive_.create(slot, next_.exclusions);
        if (waits_for == 0) waits_for_none(slot);
        fetch();
    }

    void fill(Node& node, std::uint32_t waits_for) {
        node.number = created_;
        node.iteration = next_.iteration;
        node.type = next_.type;
        node.work_us = next_.work_us;
        node.output_bytes = next_.output_bytes;
        node.readers = next_.readers;
        node.waits_for = waits_for;
        node.completed = false;
        node.successors.clear();
        node.read.clear();
        for (const Predecessor& before : next_.predecessors) {
            if (before.is_read) node.read.push_back(slot_of(before.number));
        }
        report_.work_us += next_.work_us;
    }

    // Times are in nanoseconds.
    void place_by_factors() {
        policy_->part_types();
        placement_.emplace(bridge::Placement::Settings{
            kinds_of(machine_), [this] { return 1 + static_cast<std::uint64_t>(now_us_ * 1e3); }, 1e3});
        looks_us_.assign(machine_.speeds.size(), kNever);
        for (policy::TaskTypeId type = 0; type < program_.types().size(); ++type) {
            const bool sequential = type < scheduling_.sequential.size() && scheduling_.sequential[type];
            placement_->add_type(kinds_for(type), sequential, known_ns(type));
        }
    }

    // Only what a task takes beside others counts, and each type's time is that of its first task.
    bridge::KnownTicks known_ns(policy::TaskTypeId type) const {
        if (scheduling_.placing != Placing::known || type >= machine_.slowdowns.size()) return {};
        bridge::KnownTicks known;
        for (const double slowdown : machine_.slowdowns[type])
            known.push_back(static_cast<std::uint64_t>(slowdown * scheduling_.work_us[type] * 1e3));
        return known;
    }

    double slowdown(policy::TaskTypeId type, WorkerId worker) const {
        if (type >= machine_.slowdowns.size() || worker >= machine_.kinds.size()) return 1;
        const std::vector<double>& of_type = machine_.slowdowns[type];
        return machine_.kinds[worker] < of_type.size() ? of_type[machine_.kinds[worker]] : 1;
    }

    TaskSlot issue(WorkerId worker) {
        if (!placement_) return policy_->issue(worker);
        const TaskSlot task = policy_->issue(worker, placement_->may_have(worker));
        if (task == kNoTask) look_again(worker);
        return task;
    }

    void look_again(WorkerId worker) {
        constexpr std::uint64_t kFar = 1'000'000'000'000;
        const std::uint64_t patience_ns = placement_->patience_ticks(worker);
        const double at_us = now_us_ + static_cast<double>(patience_ns + 1) / 1e3;
        if (patience_ns > kFar || at_us >= looks_us_[worker]) return;
        looks_us_[worker] = at_us;
        endings_.push({at_us, worker, kLook, 0});
    }

    void waits_for_none(TaskSlot task) {
        if (exclusive_.gets_what_it_needs(task)) make_ready(task);
    }

    void make_ready(TaskSlot task) {
        if (placement_) placement_->ready(nodes_[task].type);
        policy_->ready(task);
        ready_changed();
    }

    // Time with so many tasks ready is added up until their number changes.
    void ready_changed() {
        const std::size_t ready = policy_->ready_tasks();
        if (ready_count_ >= report_.ready_share.size()) report_.ready_share.resize(ready_count_ + 1);
        report_.ready_share[ready_count_] += now_us_ - ready_since_us_;
        ready_count_ = ready;
        ready_since_us_ = now_us_;
    }

    void issue_to_the_idle() {
        for (auto worker = idle_.begin(); worker != idle_.end() && policy_->ready_tasks() > 0;) {
            const TaskSlot task = issue(*worker);
            if (task == kNoTask) {
                ++worker;
                continue;
            }
            begin(task, *worker);
            worker = idle_.erase(worker);
            ready_changed();
        }
    }

    void begin(TaskSlot task, WorkerId worker) {
        Node& node = nodes_[task];
        node.begin_us = now_us_;
        const double factor = internal::jitter_factor(machine_.noise, machine_.seed, node.type, node.number);
        const double time_us =
            node.work_us * factor * slowdown(node.type, worker) / machine_.speeds[worker] + machine_.task_us;
        if (placement_) placement_->issued(worker, node.type, expected_ns(node.type, worker));
        endings_.push({now_us_ + time_us, worker, task, node.number});
        busy_.set(busy_.value() + 1, now_us_);
        iterations_[node.iteration].begin_us = std::min(iterations_[node.iteration].begin_us, now_us_);
        bytes_ += node.output_bytes;
        report_.peak_bytes = std::max(report_.peak_bytes, bytes_);
    }

    std::uint64_t expected_ns(policy::TaskTypeId type, WorkerId worker) const {
        const policy::KindId kind = worker < machine_.kinds.size() ? machine_.kinds[worker] : 0;
        return placement_->times().on(kind, type).value();
    }

    void complete(TaskSlot task, WorkerId worker) {
        Node& node = nodes_[task];
        busy_.set(busy_.value() - 1, now_us_);
        node.completed = true;
        iterations_[node.iteration].end_us = now_us_;
        if (observe_) observe_({node.number, node.type, node.iteration, worker, node.begin_us, now_us_});
        for (const TaskSlot read : node.read) finish_reading(nodes_[read]);
        if (node.readers == 0) release(node);
        throttle_.completed(node.iteration);
        policy_->complete(task, worker);
        if (placement_) {
            placement_->completed(worker, node.type, 1,
                                  static_cast<std::uint64_t>((now_us_ - node.begin_us) * 1e3));
        }
        exclusive_.complete(task, [this](TaskSlot next) { make_ready(next); });
        for (const TaskSlot after : node.successors) {
            if (--nodes_[after].waits_for == 0) waits_for_none(after);
        }
        constexpr double kLastTick = 1e18;  // ns
        policy_->tick(1 + static_cast<std::uint64_t>(std::min(now_us_ * 1e3, kLastTick)));
        idle_.insert(worker);
        count_completed();
    }

    void finish_reading(Node& maker) {
        if (--maker.readers == 0 && maker.completed) release(maker);
    }

    void release(const Node& node) {
        bytes_ -= node.output_bytes;
        throttle_.released(node.output_bytes);
    }

    void count_completed() {
        ++completed_;
        if (completed_ == program_.tasks() / 2) settled_from_ = {now_us_, busy_.integral(now_us_)};
        if (completed_ == program_.tasks() * 19 / 20) settled_until_ = {now_us_, busy_.integral(now_us_)};
    }

    [[noreturn]] void refuse_window() const {
        throw ScheduleError(
            fmt::format("{}: with a window of {} bytes nothing can go on: {} bytes are held by what has "
                        "completed and will be "
                        "read later, and the next iteration takes {}; give a larger window",
                        program_.name(), scheduling_.window.bytes, throttle_.bytes(), next_.reserved_bytes));
    }

    void finish_report() {
        const double workers = static_cast<double>(report_.workers);
        report_.makespan_us = now_us_;
        report_.utilisation = busy_.integral(now_us_) / (workers * now_us_);
        const double settled_us = settled_until_.time_us - settled_from_.time_us;
        if (settled_us > 0) {
            report_.settled_utilisation =
                (settled_until_.busy_us - settled_from_.busy_us) / (workers * settled_us);
        }
        if (placement_) report_.explored_share = placement_->explored_share();
        report_.master_share = creating_.integral(now_us_) / now_us_;
        ready_changed();
        for (double& share : report_.ready_share) share /= now_us_;
        for (const Stay& stay : iterations_) {
            const double latency_us = stay.end_us - stay.begin_us;
            report_.mean_latency_us += latency_us / static_cast<double>(iterations_.size());
            report_.most_latency_us = std::max(report_.most_latency_us, latency_us);
        }
    }

    struct Mark {
        double time_us = 0;
        double busy_us = 0;
    };
    static constexpr WorkerId kMaster = 0;
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    TaskProgram& program_;
    const TaskMachine& machine_;
    const TaskScheduling& scheduling_;
    const std::function<void(const RanTask&)>& observe_;
    std::unique_ptr<policy::Policy> own_policy_;
    policy::Policy* policy_;
    std::optional<bridge::Placement> placement_;
    std::vector<double> looks_us_;  // per worker: when it looks again, if nothing happens
    policy::Throttle throttle_;
    policy::ExclusiveTasks exclusive_;
    std::vector<Node> nodes_;  // a ring by task number
    std::vector<Stay> iterations_;
    std::set<WorkerId> idle_;
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
    ProgramTask next_;
    bool next_is_there_ = false;
    std::vector<TaskSlot> predecessors_;
    double now_us_ = 0;
    std::uint64_t created_ = 0;
    std::uint64_t completed_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t paid_changes_ = 0;
    Gauge busy_;      // workers that run tasks
    Gauge creating_;  // 1 while the master creates
    Mark settled_from_;
    Mark settled_until_;
    std::size_t ready_count_ = 0;
    double ready_since_us_ = 0;
    SimulatedTasks report_;
};

void check(const TaskMachine& machine) {
    if (machine.speeds.empty()) throw ScheduleError("a simulation of tasks needs at least one worker");
    for (const double speed : machine.speeds) {
        if (!(speed > 0)) throw ScheduleError(fmt::format("a worker's speed must be above 0, not {}", speed));
    }
    if (machine.kinds.size() > machine.speeds.size()) {
        throw ScheduleError(fmt::format("kinds of {} workers are given, but there are {}",
                                        machine.kinds.size(), machine.speeds.size()));
    }
    if (!(machine.create_us >= 0 && machine.change_us >= 0 && machine.task_us >= 0 && machine.noise >= 0)) {
        throw ScheduleError("overheads and noise must not be negative");
    }
}

}  // namespace

SimulatedTasks simulate_tasks(TaskProgram& program, const TaskMachine& machine,
                              const TaskScheduling& scheduling,
                              const std::function<void(const RanTask&)>& observe) {
    check(machine);
    return TaskSimulation(program, machine, scheduling, observe).run();
}

}  // namespace tidemill

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "tidemill/lab/sim/os/decaying_share.hpp"
#include "tidemill/lab/sim/os/machine.hpp"
#include "tidemill/lab/sim/os/program.hpp"
#include "tidemill/lab/sim/os/scheduler.hpp"
#include "tidemill/steer/layer.hpp"

namespace tidemill::os {

/// Result of a run.
struct Outcome {
    std::vector<double> turnaround_s;  ///< of each program, from its arrival to its end
    double makespan_s = 0;
    double done_s = 0;  ///< work of all programs, and of moving them, on a core of speed 1
    std::uint64_t migrations = 0;
    std::uint64_t switches = 0;
    std::vector<double> busy_s{};  ///< of each core
};

/// A layer beside a scheduler.
struct Bridged {
    bridge::Layer* layer = nullptr;
    bool factors_used = true;  ///< else it only learns
    bool exchanges = true;     ///< else it only scales loads
};

/// Programs on a machine under a scheduler: a fair queue on each core, and events until all have ended.
///
/// The same arguments give the same run, always. Counters for the layer follow the paper's model: one
/// instruction a cycle of a big core while a program computes, and a miss every 100 ns while it waits for
/// memory.
class System {
  public:
    static constexpr double kTick_s = 0.004;
    static constexpr double kBalance_s = 0.064;  ///< between two looks of a busy core at the others
    static constexpr double kMiss_ns = 100;      ///< that a core waits for memory

    /// Throws SimError for a machine without cores, a program without work and numbers that cannot be.
    System(const Machine& machine, std::span<const Program> programs, Scheduler& scheduler,
           Bridged bridged = {});

    /// Until all programs have ended.
    Outcome run() { return run_until(std::numeric_limits<double>::infinity()); }
    /// No longer than that; programs that have not ended have a turnaround of 0.
    Outcome run_until(double last_s);

    // State that schedulers see.
    double now_s() const { return now_s_; }
    const Machine& machine() const { return machine_; }
    CoreId cores() const { return static_cast<CoreId>(cores_.size()); }
    /// The program that runs on a core, if any.
    std::optional<TaskId> running(CoreId core) const { return cores_[core].running; }
    /// Those that wait there, the next one first.
    std::span<const TaskId> waiting(CoreId core) const { return cores_[core].waiting; }
    /// All of them.
    std::vector<TaskId> on(CoreId core) const;
    std::size_t runnable(CoreId core) const {
        return cores_[core].waiting.size() + (cores_[core].running ? 1 : 0);
    }
    /// A factor of the layer; nothing where there is none, it is not used or its factor is absent.
    std::optional<double> factor(TaskId task, KindId kind) const;
    /// The weight of a program's priority, as the layer scales it for a core.
    double load(TaskId task, CoreId core) const;
    /// Load of all programs on a core.
    double load(CoreId core) const;
    double weight(TaskId task) const { return programs_[task].weight; }
    /// Share of the time that a program could have run, lately.
    double runnable_share(TaskId task) const;
    /// Share of a big core's time that it used, lately.
    double utilisation(TaskId task) const;

    /// Moves a program that runs or waits.
    void move(TaskId task, CoreId to);
    /// Two that run or wait on different cores go to each other's.
    void exchange(TaskId task, TaskId other);

  private:
    enum class State : std::uint8_t { coming, waiting, running, sleeping, ended };
    struct Task {
        State state = State::coming;
        CoreId core = 0;
        std::size_t phase = 0;
        std::size_t round = 0;
        double left_s = 0;  // of the phase, on a core of speed 1
        double virtual_s = 0;
        DecayingShare runnable{};
        DecayingShare used{};
        bridge::Sample done{};  // that was not reported to the layer
    };
    struct Core {
        std::optional<TaskId> running{};
        std::vector<TaskId> waiting{};
        double virtual_s = 0;  // never falls: that of the program which is furthest behind
        double since_s = 0;    // until when the running program's work is counted
        double begun_s = 0;    // when it was given the core
        double speed = 1;
        double frequency = 1;  // share of the full one
        DecayingShare busy{};
        double next_exchange_s = 0;
        std::uint64_t planned = 0;  // the event that is waited for; older ones are void
    };
    enum class What : std::uint8_t { start, wake, decide, tick };
    struct Event {
        double time_s;
        std::uint64_t number;
        What what;
        std::uint32_t of;  // a task, or a core
        bool operator>(const Event& other) const {
            return time_s != other.time_s ? time_s > other.time_s : number > other.number;
        }
    };

    const Phase& phase(TaskId id) const { return programs_[id].phases[tasks_[id].phase]; }
    std::uint64_t plan(double time_s, What what, std::uint32_t of);
    void handle(const Event& event);
    void start(TaskId id);
    void wake(TaskId id);
    void decide(CoreId id);
    void tick(CoreId id);
    void advance(CoreId id);
    void count_work(CoreId id, double time_s);
    void end_phase(CoreId id);
    void end(TaskId id);
    void begin_phase(TaskId id);
    void turn(TaskId id, State state);
    void take_off(TaskId id);
    void put_on(TaskId id, CoreId to);
    void migrate(TaskId id, CoreId to);
    void put_back(CoreId id);
    void dispatch(CoreId id);
    void plan_decision(CoreId id);
    double slice_s(CoreId id) const;
    void tell(TaskId id);
    void follow_load(CoreId id);
    void exchange_now_and_then(CoreId id);

    Machine machine_;
    std::vector<Program> programs_;
    Scheduler& scheduler_;
    Bridged bridged_;
    double now_s_ = 0;
    std::vector<Task> tasks_;
    std::vector<Core> cores_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t events_planned_ = 0;
    std::size_t ended_ = 0;
    Outcome outcome_;
};

}  // namespace tidemill::os

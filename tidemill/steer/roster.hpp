#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/steer/kinds.hpp"
#include "tidemill/steer/system.hpp"

namespace tidemill::steer {

/// Processes whose threads are watched: all, or these and those that they begin, or a control group's.
struct Target {
    std::vector<int> processes = {};
    std::filesystem::path group = {};
};

/// Whether a thread is ours to steer, and why not.
enum class Standing {
    free,       ///< may run where its control group may
    confined,   ///< by us, to a kind
    foreign,    ///< somebody else has narrowed its affinity
    one_kind,   ///< its control group has no more than one kind
    real_time,  ///< the system does not share cores out to it by weight
    refused,    ///< the system does not let us
};

const char* to_string(Standing standing);

struct CountedThread;  // of Learning

/// Demand of a thread of a core of kind 0 when nothing limited it.
struct SeenWork {
    double work = 1;
    double at_s = 0;
};

/// A thread that is watched.
struct RosterThread {
    int process = 0;
    int number = 0;
    std::string program{};  ///< "process.thread", by the names that the system has for them
    std::unique_ptr<HeldThread> held{};
    ThreadFacts facts{};
    Standing standing = Standing::free;
    CpuSet affinity{};              ///< when it was last looked at
    CpuSet before{};                ///< where it could run by itself
    std::size_t kind = 0;           ///< where it is confined, else where it was seen
    std::vector<CpuSet> sets{};     ///< where we have let it run
    std::uint64_t since_ticks = 0;  ///< and from when on, after the system's start
    double moved_s = -std::numeric_limits<double>::infinity();
    double stays_until_s = 0;  ///< after a change that the system did not allow
    ThreadTimes times{};
    double sampled_s = 0;
    double demand = 0;  ///< part of the time in which it ran or waited for a core, over the last second or so
    double ran = 0;     ///< part of the time in which it ran, over the same
    std::optional<SeenWork> seen{};
    double demand_over_s = 0;  ///< what `demand` is the mean of, since it first ran
    double idle_s = 0;         ///< since it last wanted a core
    /// Time of a wait that goes on. The system reports it when it is over, among many threads after seconds:
    /// so it is counted as it is seen, and not again at its end.
    double waits_s = 0;
    bool is_gone = false;
    std::shared_ptr<CountedThread> counted{};  ///< for Learning
    double received = 1;                       ///< over what the system alone would have given it
    std::vector<bridge::Factor> known{};       ///< by kind; emptied when the program is another one

    bool is_ours() const { return standing == Standing::free || standing == Standing::confined; }
};

/// All threads that are watched: finds them, holds them, and knows what they want of the cores.
class Roster {
  public:
    /// Throws SteerError for a process or a control group that is not there.
    Roster(System& system, const Kinds& kinds, Target target);

    /// Finds what has begun and ended since; threads that have ended are no more.
    void look();
    /// Reads the times of those that run, and of some of those that do not; looks whether some of those that
    /// run are still what they were taken for.
    void sample();
    /// The same for one.
    void examine(RosterThread& thread);

    /// Whether, since the last call, threads were found that have their affinity from one of ours, or that
    /// are ours no more.
    bool has_news() { return std::exchange(has_news_, false); }

    /// Whether, since the last call, threads have run for the first time.
    bool has_beginners() { return std::exchange(has_beginners_, false); }

    /// A thread is about to be put on a kind; returns whether it never was.
    bool note_intended(RosterThread& thread, std::size_t kind);
    /// A thread is on a kind from now on, by our doing. So is whatever its process begins.
    void note_confined(RosterThread& thread, std::size_t kind);
    /// It may run where it could before.
    void note_free(RosterThread& thread);

    const std::vector<RosterThread*>& threads() const { return flat_; }
    std::size_t processes() const { return processes_.size(); }

  private:
    /// Kinds that threads were confined to, and since when: what they began later has their affinity.
    using Given = std::map<std::size_t, std::uint64_t>;

    struct Process {
        std::unique_ptr<HeldProcess> held{};
        std::string name{};
        Given given{};
        std::map<int, std::unique_ptr<RosterThread>> threads{};
        bool has_gone_threads = true;
    };

    std::vector<int> candidates();
    bool belongs(int number, const ThreadFacts& facts) const;
    bool is_heir(const ThreadFacts& orphan) const;
    void look_for_processes();
    void look_at_process(int number);
    void look_for_threads(int number, Process& process);
    void take_up(int number, Process& process, int thread);
    void examine(RosterThread& thread, Process& process);
    void examine_some(double most);
    static void rename(RosterThread& thread, Process& process, const std::string& name);
    void classify(RosterThread& thread, Process& process, const CpuSet& affinity);
    /// Returns what it cost, in reads of times.
    std::size_t sample(RosterThread& thread, double now_s);
    static bool is_waiting(RosterThread& thread);
    void note_demand(RosterThread& thread, double ran_s, double wanted_s, double since_s);

    System& system_;
    const Kinds& kinds_;
    Target target_;
    int self_;
    bool has_begun_ = false;
    bool has_lost_ = false;  // processes, at the last look
    bool has_news_ = false;
    bool has_beginners_ = false;
    std::map<int, Process> processes_;
    std::map<int, Given> sessions_;  // for those whose parents are gone
    std::set<int> ignored_;          // numbers of processes that are not watched
    std::vector<RosterThread*> flat_;
    double sampled_s_;
    std::size_t sample_at_ = 0;  // where to go on in flat_
    std::size_t examine_at_ = 0;
};

}  // namespace tidemill::steer

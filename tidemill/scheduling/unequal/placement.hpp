#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"
#include "tidemill/scheduling/unequal/factor_matrix.hpp"
#include "tidemill/scheduling/unequal/task_times.hpp"

namespace tidemill::bridge {

/// Times that are known before a run: of a task type on each kind of core, in ticks; 0 where nothing is
/// known.
using KnownTicks = std::vector<std::uint64_t>;

/// Ready tasks that a worker may have now, by what tasks take on each kind of core. The order among those is
/// a policy's.
///
/// A task type is at home on the kinds where its time costs least, at the prices that a core of each kind has
/// when all are busy with what they are best at (`least_period()`). A worker has first what is at home on its
/// kind. Where nothing of that is ready it takes another task if it will have finished it before the cores
/// that it is at home on; until then it waits, and takes it when those are late.
///
/// Learns from events: how often each task type comes and what it takes. What never ran on a kind is tried
/// there a few times, and what is not at home there now and then, for a small part of the work. Knows no
/// thread: calls must not overlap, but for factors(), which any thread may read.
class Placement {
  public:
    struct Settings {
        std::vector<policy::KindId> kinds;   ///< of each worker's core
        std::function<std::uint64_t()> now;  ///< in ticks, which never fall
        double ticks_per_us = 1;
        std::size_t most_types = 1024;  ///< of factors
        bool explores = true;           ///< tasks are tried now and then where they are not at home
    };

    explicit Placement(Settings settings);

    /// The next task type. Its tasks run on those kinds only; one that is `sequential` on one frame at a
    /// time.
    void add_type(policy::KindSet kinds, bool sequential, const KnownTicks& known = {});
    std::size_t types() const { return types_.size(); }
    /// From now on, tasks of a type run on those kinds only.
    void confine(policy::TaskTypeId type, policy::KindSet kinds);

    /// A task has become ready.
    void ready(policy::TaskTypeId type);
    /// A worker was given a ready task, and so many behind it, which may take it so many ticks more.
    void issued(policy::WorkerId worker, policy::TaskTypeId type, std::uint64_t expected_ticks);
    /// So many tasks that a worker was given have ended and took so many ticks each; the total is reported
    /// before it gets others.
    void completed(policy::WorkerId worker, policy::TaskTypeId type, std::uint64_t tasks,
                   std::uint64_t ticks);

    /// Tasks that a worker may have now: a byte for each task type. Valid until the next call.
    std::span<const std::uint8_t> may_have(policy::WorkerId worker);
    /// Whether any of that is ready.
    bool may_take(policy::WorkerId worker) { return find(worker).any; }
    /// How long a worker that may take nothing waits at most before it would, if nothing happened meanwhile.
    std::uint64_t patience_ticks(policy::WorkerId worker) const;

    const TaskTimes& times() const { return times_; }
    const FactorMatrix& factors() const { return factors_; }
    /// The share of all work that was spent on finding out.
    double explored_share() const;

  private:
    static constexpr std::uint8_t kLearned = 8;  // calls after which a time is trusted
    static constexpr std::uint8_t kFew = 3;      // calls after which it may be dismissed
    static constexpr std::uint8_t kDoubted = 4;  // what is left of that where it may have changed
    static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

    // Why what is known of a task type on a kind is not trusted any more.
    enum class Doubt : std::uint8_t {
        none,
        other_kinds,  // the task type has changed elsewhere, and was thought to have changed here alike
        other_types,  // the kind has changed
    };

    // A task type on a kind.
    struct Entry {
        bool may_run = true;
        bool at_home = true;
        bool shared = true;        // at home elsewhere, too
        bool trying = false;       // a task of it runs there to find out
        bool asked = false;        // it is to be looked at once more
        bool dismissed = false;    // it is so dear there that a few calls were enough
        std::uint8_t trust = 0;    // calls since it was new or doubted, up to kLearned
        std::uint8_t strikes = 0;  // calls in a row that were far from `steady`
        Doubt doubt = Doubt::none;
        std::uint64_t steady = 0;        // ticks before the strikes
        std::uint64_t strike_ticks = 0;  // of all strikes
        std::uint64_t last_call = 0;
        std::uint64_t deaf_until = 0;  // call up to which it notices no change
        std::uint8_t changes = 0;

        bool wanted() const { return asked || (trust < kLearned && !dismissed); }
    };
    struct Type {
        bool sequential;
        std::uint64_t ready = 0;
        double demand = 0;
    };
    struct Worker {
        policy::KindId kind;
        std::uint64_t busy_until = 0;  // 0: it has nothing
        std::uint64_t idle_since = 0;
    };
    struct Found {
        bool any = false;
        std::span<const std::uint8_t> types;
    };

    Entry& entry(policy::TaskTypeId type, policy::KindId kind) { return entries_[type * kinds_ + kind]; }
    const Entry& entry(policy::TaskTypeId type, policy::KindId kind) const {
        return entries_[type * kinds_ + kind];
    }
    bool is_for(policy::TaskTypeId type, policy::KindId kind) const;
    double ticks_of(policy::TaskTypeId type, policy::KindId kind) const;
    double ahead_on(policy::KindId kind, policy::TaskTypeId type) const;
    double late_from(policy::KindId kind, double so_late) const;
    double sooner_from(policy::TaskTypeId type, const Worker& worker) const;
    Found find(policy::WorkerId worker);
    void note(policy::TaskTypeId type, policy::KindId kind, std::uint64_t tasks, std::uint64_t ticks);
    bool has_changed(policy::TaskTypeId type, policy::KindId kind, std::uint64_t ticks);
    void note_change(policy::TaskTypeId type, policy::KindId kind);
    void doubt(policy::TaskTypeId type, policy::KindId kind, Doubt why);
    void doubt_kinds_but(policy::KindId kind, policy::TaskTypeId type);
    void generate(std::uint64_t now);
    void find_homes();
    void estimate_ratios();
    void publish();
    void explore();

    Settings settings_;
    std::size_t kinds_;
    std::vector<int> cores_;  // per kind
    std::vector<Worker> workers_;
    std::vector<Type> types_;
    std::vector<Entry> entries_;  // [type x kinds + kind]
    TaskTimes times_;
    FactorMatrix factors_;
    std::vector<double> prices_;           // per kind, of a core's time
    std::vector<double> ratios_;           // [kind x kinds + other]: of times, over tasks known on both
    std::vector<std::uint8_t> may_have_;   // per type, of the worker asked for
    std::vector<std::uint8_t> all_types_;  // the same where all may have anything
    bool indifferent_ = false;             // all is known, and it does not matter which worker has which
    bool pays_ = true;                     // that each has what its kind is good at
    std::uint64_t ready_ = 0;              // tasks of all types
    std::uint64_t calls_ = 0;
    std::uint64_t next_generation_ = 0;
    std::uint64_t interval_;
    double work_ = 0;      // ticks of all tasks
    double explored_ = 0;  // ticks of those that ran to find out
};

}  // namespace tidemill::bridge

#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/steer/journal.hpp"
#include "tidemill/steer/known_programs.hpp"
#include "tidemill/steer/learning.hpp"
#include "tidemill/steer/report.hpp"
#include "tidemill/steer/roster.hpp"

namespace tidemill::steer {

struct DaemonOptions {
    Settings decision = {};
    double look_every_s = 0.25;   ///< for what has begun and ended
    double decide_every_s = 0.2;  ///< at most: what has to be decided takes time, too
    bool dry_run = false;         ///< decide, and change nothing
    std::filesystem::path journal = {};
    KnownFactors known = {};       ///< may be empty: nothing is
    Counters* counters = nullptr;  ///< to learn more from, where there are some
    std::function<void(const std::string& change)> told = [](const std::string&) {};
};

/// Steers the threads of ordinary programs by their affinity, by what steer() decides of them. Knows no clock
/// but the system's, and has no thread: its owner calls tick() ten times a second or so.
///
/// Before a thread's affinity is changed the journal says so. Threads have their affinity back when end() is
/// called or the daemon goes, and, where it was killed, when the next one begins.
class Daemon {
  public:
    /// Restores what a journal of before names. Throws SteerError for a target that is not there, for kinds
    /// that are less than two, and where the journal cannot be read or written.
    Daemon(System& system, std::vector<CpuKind> kinds, Target target, DaemonOptions options);
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    /// Reads, decides and changes. Throws SteerError where the journal can no longer be written.
    void tick();
    /// No process is left of those that it was to watch.
    bool is_over() const { return roster_.processes() == 0; }
    /// Restores every affinity; what comes after it does nothing.
    Restored end();

    /// Threads that the daemon before this one had left.
    const Restored& restored_at_start() const { return restored_at_start_; }
    Report report() const;
    /// Knowledge of programs: see Learning::known().
    std::vector<bridge::KnownTask> learned() const;

  private:
    void look(double now_s);
    void decide(double now_s);
    void take_snapshot(double now_s);
    void note_state(RosterThread& thread, double now_s, ThreadState& state);
    std::optional<double> work_of(const RosterThread& thread, double factor, double now_s) const;
    void even_out_work();
    void add_small_threads();
    void learn();
    void put_factors(RosterThread& thread, std::vector<bridge::Factor>& factors) const;
    void tell(const Change& change);
    void note_received(double now_s);
    void carry_out(const std::vector<Change>& changes);
    bool is_to_be_held(const RosterThread& thread) const;
    void announce(const std::vector<Change>& changes);
    bool carry_out(const Change& change);
    Outcome confine(RosterThread& thread, std::size_t kind);
    bool release(RosterThread& thread);
    void release_idle();
    std::vector<SteeredThread> steered() const;
    void write_journal_if_changed();
    std::string shortage() const;
    void add_active(Report& report) const;

    System& system_;
    Kinds kinds_;
    DaemonOptions options_;
    Restored restored_at_start_;
    Journal journal_;
    std::optional<Learning> learning_;
    Roster roster_;
    Snapshot snapshot_;
    std::map<std::string, SeenWork> seen_of_;  // of programs, as it was last seen of one of their threads
    std::vector<RosterThread*> active_;        // the first of the snapshot, in its order
    double started_s_;
    double started_processor_s_;
    double looked_s_;
    double decided_s_;
    double written_s_;          // the journal
    std::size_t learn_at_ = 0;  // where to go on in active_
    bool ended_ = false;
    Counts counts_;
    std::deque<std::string> recent_;
};

}  // namespace tidemill::steer

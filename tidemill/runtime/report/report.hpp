#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/machine/energy_meter.hpp"

namespace tidemill {

class Json;

/// Durations in microseconds: their summary in a report.
struct DurationReport {
    std::uint64_t count = 0;
    double total_us = 0;
    double mean_us = 0;
    double least_us = 0;
    double p50_us = 0;  ///< half of them took no longer; percentiles are right within 1/32
    double p90_us = 0;
    double p99_us = 0;
    double most_us = 0;
};

/// Work of a task during a run.
struct TaskReport {
    std::string name;        ///< "module.task"
    std::size_t unit;        ///< which unit of the chain it belongs to
    DurationReport calls;    ///< of all threads
    std::uint64_t late = 0;  ///< frames on which it worked when the run's deadline passed
};

/// A unit of the chain that schedulers see.
struct UnitReport {
    std::string name;
    bool replicable;
    bool lacks_word;
};

/// Work of a unit's tasks on cores of one kind.
struct UnitOnKind {
    std::size_t unit;
    std::string kind;
    std::uint64_t calls = 0;  ///< frames that it worked on there
    double total_us = 0;
    std::optional<double> factor{};  ///< how many times longer it takes there than on the first kind
    std::string quality;             ///< of the factor: measured, estimated or absent
};

/// How near a run has come to what its cores could do; see bound_of().
struct BestPossible {
    std::string cores;     ///< "1 big, 1 little"
    double period_us = 0;  ///< that the run had
    double bound_us = 0;   ///< the least that any scheduler could have
    std::string between;   ///< what stands between them, in one sentence

    /// How much longer the period is; below 0 where tasks took less than when they were weighed.
    double percent() const { return bound_us > 0 ? 100 * (period_us / bound_us - 1) : 0; }
};

/// Work of a thread of a stage during a run.
struct ThreadReport {
    double work_us = 0;
    DurationReport pull_waits;  ///< waiting for the stage before
    DurationReport push_waits;  ///< waiting for a free token, that is for the stages after
    std::string cores;          ///< where it was pinned; "any" when it was not
    std::string not_pinned;     ///< why the system refused to pin it; empty when all went well
    double elsewhere_us = 0;    ///< its work at other stages; their waits are those of each of them
};

/// Work of a stage during a run.
struct StageReport {
    std::size_t first_unit;
    std::size_t units;
    std::vector<ThreadReport> threads;
};

/// How busy the cores of a cluster were: cores that are nearer to each other than to those of others.
struct ClusterReport {
    std::string kind;
    std::string cores;  ///< "core0-3"
    std::size_t core_count = 0;
    std::size_t cores_used = 0;  ///< that had threads
    double busy = 0;             ///< part of the time that these worked
};

/// The tokens of a segment: the memory that frames in flight take.
struct SegmentReport {
    std::size_t tokens;        ///< what stages hold, and what may wait between them
    std::size_t bytes;         ///< of all of them
    std::size_t held;          ///< by the stages that its frames pass: see Turns::frames_held()
    std::size_t rings;         ///< borders between those stages
    std::uint64_t frames = 0;  ///< that its busiest task saw
};

/// Result of a run. Times are zero when statistics were off.
struct RunReport {
    std::uint64_t frames = 0;     ///< frames that the source began
    std::uint64_t delivered = 0;  ///< frames of the last segment that passed all its tasks
    std::uint64_t skipped = 0;    ///< frames of the last segment that a replicable task skipped
    std::uint64_t dropped = 0;    ///< frames for which there was no room when they began
    std::uint64_t late = 0;       ///< frames that took longer than the run's deadline
    double elapsed_s = 0;
    double stages_elapsed_s = 0;     ///< of that, under the last schedule: covered by `stages`
    std::vector<double> bubbles_us;  ///< per change of schedule: from the wish to the first new frame
    double waited_outside_us = 0;    ///< by tasks, for what is outside the graph, as far as it was declared
    DurationReport latency;          ///< from a source frame's first task to the last task of what came of it
    EnergyUse energy;                ///< joules and watts, or why they were not measured
    std::vector<TaskReport> tasks;
    std::map<std::string, std::uint64_t> lost_marks{};  ///< for which a socket's list had no room
    std::vector<UnitReport> units;
    std::vector<StageReport> stages;
    std::vector<SegmentReport> segments;
    std::vector<ClusterReport> clusters{};  ///< where pinned threads could sit in several
    std::vector<UnitOnKind> on_kinds;       ///< of workers on several kinds of cores
    std::optional<BestPossible> best{};     ///< by a pipeline's profile, or by what dynamic workers took
    std::string emulated;                   ///< kinds of cores that are not real, and how; empty: all are

    /// Time that each unit took per source frame, in microseconds, over all threads.
    std::vector<double> unit_weights_us() const;

    /// Time between two source frames, in microseconds; 0 when there were none.
    double period_us() const;

    /// Bytes of all tokens.
    std::size_t token_bytes() const;
};

/// Says that a task waited for what is outside the graph, as a radio's samples, for a part of its time: that
/// was no work, and its thread waited meanwhile. Percentiles stay those of its whole calls.
void count_as_waiting(RunReport& report, const std::string& task, double waited_us);

/// The tasks of a run as a table: calls, mean time of a call and its percentiles, share of the whole.
std::string task_table(const RunReport& report);

/// The stages of a run as a table: threads, cores, work and waits; then how busy each cluster was.
std::string stage_table(const RunReport& report);

/// Work of units on each kind of core, as a table; empty where there is one kind.
std::string kind_table(const RunReport& report);

/// The period, the best possible on these cores, and the distance, in one line, and in another one what was
/// emulated; empty where nothing is known of that.
std::string best_possible_line(const RunReport& report);

/// A line for each task whose errors ended frames, and for each socket whose marks had no room.
std::string error_lines(const RunReport& report);

/// The energy of a run in one line: joules, watts and what each of `frames` took, or "not measured" and why.
std::string energy_line(const EnergyUse& energy, std::uint64_t frames);

/// One sentence: which stage limits the speed of a run, which of its units is to blame, and what would help.
/// Says so when no stage does, because all of them wait, and when no times were taken.
std::string bottleneck(const RunReport& report);

/// The whole report as one JSON object, times in microseconds.
Json json_of(const RunReport& report);
std::string to_json(const RunReport& report);

}  // namespace tidemill

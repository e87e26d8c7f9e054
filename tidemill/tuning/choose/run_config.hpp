#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"
#include "tidemill/scheduling/static/schedule_config.hpp"

namespace tidemill {

class TokenMemory;

namespace bridge {
struct Emulation;
struct FactorFile;
}  // namespace bridge

/// Executor of a graph: stages by a schedule; the calling thread alone; a thread per task, left to the
/// system; workers that take what a policy says; or the fastest of these here, found out while it runs.
enum class ExecutorKind { pipeline, sequence, threads, dynamic, automatic };

/// "pipeline", "sequence", "threads", "dynamic", "auto".
const char* to_string(ExecutorKind executor);

/// How a graph is to be run, as values: what the command line asks wherever a graph runs, and GraphRun does.
struct RunConfig {
    ExecutorKind executor = ExecutorKind::pipeline;

    std::optional<Schedule> schedule{};  ///< none: the best for a profile that is made first
    std::string schedule_file{};         ///< that it came from, for errors; empty: none
    ScheduleConfig scheduling{};         ///< its cores are those of dynamic workers, too; none: all
    double profile_s = 0.5;              ///< on each kind of cores

    bool adapt = false;  ///< look now and then whether another schedule is better
    double adapt_every_s = 1;
    double adapt_threshold = 0.1;  ///< part of the period that a change must save

    std::size_t ring_depth = 1;             ///< frames that may wait between two stages
    std::uint32_t batch = 1;                ///< frames that are handed over at a time
    std::optional<double> batch_wait_us{};  ///< of a device's batch for its frames; none: twice what it takes
    /// Where tokens lie that a device takes; null: in the program's own memory.
    std::shared_ptr<TokenMemory> token_memory{};
    std::optional<double> latency_us{};  ///< wanted: ring depth and batch follow from it
    std::optional<WaitMode> waiting{};   ///< none: mixed where threads are pinned, else passive
    bool pinned = true;

    int replicas = 1;                  ///< with a thread per task: of those that may have them
    std::string policy = "gpriority";  ///< of dynamic workers
    policy::Window window{};           ///< what they may have in flight
    /// Kinds of cores that dynamic workers only pretend to have, by name; null: all are real. Without cores
    /// named, half of the machine's.
    std::shared_ptr<const bridge::Emulation> emulation{};
    bool places = true;  ///< dynamic workers on several kinds get what their kind is good at
    /// Times of units on each kind, known ahead; then nothing is tried to find it out. Null: it is learned.
    std::shared_ptr<const bridge::FactorFile> factors{};
    /// With automatic: a file of choices made before, read if it is there and written after a choice; empty:
    /// none.
    std::string choices{};
    bool fresh = false;      ///< choices made before are not read
    std::string remember{};  ///< a file of factors: read where there is one, and written after the run

    // Where the run ends, if not with its source.
    std::optional<std::uint64_t> frames{};
    std::optional<double> seconds{};
};

/// Expected time between two source frames, in microseconds; nine runs of ten should lie within the interval.
struct Forecast {
    double period_us = 0;
    double least_us = 0;
    double most_us = 0;
};

/// Chosen way to run a graph, and the others.
struct Choice {
    /// A way to run a graph.
    struct Way {
        ExecutorKind executor = ExecutorKind::sequence;
        std::string policy{};                ///< of dynamic workers
        std::optional<Schedule> schedule{};  ///< of stages

        /// "in order", "pipeline of 3 stages", "mixed pipeline of 2 stages", "pipeline of 5 stages on 2
        /// threads", "thread per task", "dynamic (gpriority)".
        std::string name() const;
        /// Compares ways without their forecasts.
        bool is_same(const Way& other) const;
    };

    struct Tried {
        std::string name;
        double period_us = 0;
        double busiest_us = 0;  ///< where the source set the pace: what its busiest thread took for a frame
    };

    Way way{};
    std::vector<Tried> tried{};          ///< on the stream; the one that was chosen first
    double bound_us = 0;                 ///< see bound_of(); 0: not known
    std::optional<Forecast> forecast{};  ///< of the rest of the stream
    bool is_remembered = false;          ///< it was made in another run

    /// Whether all kept up with the source, so that the least busy threads were chosen.
    bool source_sets_pace() const { return !tried.empty() && tried.front().busiest_us > 0; }

    /// "dynamic (gpriority): 171.00 us; pipeline of 2 stages 262.00; in order 319.00; bound 168.00", or
    /// "dynamic (gpriority), the source sets the pace: 1000.00 us, busiest thread 171.00 us a frame; in order
    /// 319.00".
    std::string line() const;
};

/// Throws RunError for wishes that contradict each other.
void check(const RunConfig& how);

/// Automatic stays so where everything else is left open; wishes that only pipelines or dynamic workers can
/// fulfil are theirs.
ExecutorKind resolved(const RunConfig& how);

}  // namespace tidemill

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemill {

/// What a task did during a run.
struct TaskReport {
    std::string name;  ///< "module.task"
    std::size_t unit;  ///< which unit of the chain it belongs to
    std::uint64_t calls = 0;
    double total_us = 0;  ///< over all threads
    double mean_us = 0;   ///< of a call
    double least_us = 0;
    double most_us = 0;
};

/// What a thread of a stage did during a run.
struct ThreadReport {
    double work_us = 0;
    double pull_wait_us = 0;  ///< waiting for the stage before
    double push_wait_us = 0;  ///< waiting for a free token, that is for the stages after
    std::string cores;        ///< where it was pinned; "any" when it was not
    std::string not_pinned;   ///< why the system refused to pin it; empty when all went well
};

/// What a stage did during a run.
struct StageReport {
    std::size_t first_unit;
    std::size_t units;
    std::vector<ThreadReport> threads;
};

/// The tokens of a segment: the memory that frames in flight take.
struct SegmentReport {
    std::size_t tokens;
    std::size_t bytes;
};

/// What came of a run. Times are zero when statistics were off.
struct RunReport {
    std::uint64_t frames = 0;     ///< frames that the source began
    std::uint64_t delivered = 0;  ///< frames of the last segment that passed all its tasks
    std::uint64_t skipped = 0;    ///< frames of the last segment that a replicable task skipped
    double elapsed_s = 0;
    double mean_latency_us = 0;  ///< from a source frame's first task to the last task of what came of it
    double most_latency_us = 0;
    std::vector<TaskReport> tasks;
    std::vector<std::string> units;  ///< names of the chain's units
    std::vector<StageReport> stages;
    std::vector<SegmentReport> segments;

    /// Time that each unit took per source frame, in microseconds, over all threads.
    std::vector<double> unit_weights_us() const;

    /// Bytes of all tokens.
    std::size_t token_bytes() const;
};

/// The tasks of a run as a table: calls, least, mean and most time of a call, share of the whole.
std::string task_table(const RunReport& report);

/// The stages of a run as a table: threads, cores, work and waits.
std::string stage_table(const RunReport& report);

}  // namespace tidemill

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/schedule/chain.hpp"
#include "tidemill/schedule/cost_model.hpp"
#include "tidemill/schedule/cyclic_word.hpp"

namespace tidemill {

/// Where the threads of a stage may run: one core each in order, any core of the kind, one core each spread
/// over clusters, or anywhere.
enum class Pinning { kPacked, kGuided, kDistant, kLoose };

/// How a thread waits at the ring after a stage: asleep, or spinning.
enum class Waiting { kPassive, kActive };

/// An interval of tasks that runs on `threads` cores of one kind, or of several by a word.
struct Stage {
    std::size_t first_task = 0;
    std::size_t task_count = 0;
    int threads = 1;
    std::string core_kind;
    Pinning pinning = Pinning::kPacked;
    std::optional<int> sync_buff_size{};  // ring after this stage; never on the last one
    std::optional<Waiting> waiting{};     // at that ring
    bool shares_core = false;             // each thread has half a core: two such threads share one
    std::optional<int> batch{};           // frames that it takes at once, of a device: as many as are there
    std::optional<CyclicWord> word{};     // where it is mixed: whose turn it is; core_kind is empty then

    bool operator==(const Stage&) const = default;

    /// Threads of each kind of cores.
    std::vector<CoreCount> cores() const;

    /// Of its kinds, as people and results name them: "big", or "big+little".
    std::string kind_names() const;

    Turns turns() const { return word ? word->turns() : Turns(static_cast<std::size_t>(threads)); }
};

/// A run of hardware threads or cores by their hwloc logical numbers, both ends included.
struct NodeRange {
    enum class Unit { kPu, kCore };
    Unit unit = Unit::kPu;
    int first = 0;
    int last = 0;

    bool operator==(const NodeRange&) const = default;
};

/// Which cores of a machine are meant by a core kind; with smt > 1 the second hardware threads follow the
/// first.
struct CoreResource {
    std::string kind;
    std::vector<NodeRange> nodes;
    int smt = 1;
    std::optional<int> cluster_size{};

    bool operator==(const CoreResource&) const = default;
};

/// Stages in chain order; the chain's task names go along so that a schedule meets the chain it was made for.
struct Schedule {
    std::vector<Stage> stages;
    std::vector<std::string> task_names{};  // empty when unknown: then only counts can be checked
    std::vector<CoreResource> resources{};  // empty until a machine has been chosen
    std::optional<double> period_us{};      // what the strategy predicts
    std::string made_by{};

    bool operator==(const Schedule&) const = default;

    /// Number of tasks in all stages.
    std::size_t task_count() const;

    /// Threads of all stages.
    int thread_count() const;
};

/// A stage's tasks.
std::span<const ChainTask> tasks_of(const Stage& stage, const Chain& chain);

/// What a task takes in a stage of a kind, per execution: on a device, in the stage's batches.
double task_weight_us(const ChainTask& task, std::size_t kind, const Stage& stage);

/// Weight of a stage in µs, as published: the sum of its tasks, shared by its threads when all of them are
/// replicable; on a device, in the stage's batches; by a word, that of the thread which it keeps busiest.
double stage_weight_us(const Stage& stage, const Chain& chain);

/// What the stages on devices take of the host, per execution: the threads that feed them have no core of
/// their own, so any stage may be kept waiting for that long.
double host_us(const Schedule& schedule, const Chain& chain);

/// The largest stage weight in µs, as published, and what devices take of the host: the time between two
/// executions when the pipeline is full.
double period_us(const Schedule& schedule, const Chain& chain);

/// The weights of a schedule's stages under a model: with their costs, slowed down as their kind's cores are
/// busy, and kept waiting by the threads of devices.
std::vector<double> stage_weights_us(const Schedule& schedule, const Chain& chain, const CostModel& model);

/// The largest stage weight under a model.
double period_us(const Schedule& schedule, const Chain& chain, const CostModel& model);

/// How long the cores of a kind are busy, all together, with one execution under a model.
double busy_us(const Schedule& schedule, const Chain& chain, const CostModel& model, std::string_view kind);

/// Watts of all cores of a platform while the schedule runs on it: a core with a thread is busy, the others
/// are idle.
double power_w(const Schedule& schedule, const Platform& platform, const CostModel& model);

/// Source frames per second at the predicted period.
double frames_per_second(const Schedule& schedule, const Profile& profile);

/// Cores used per kind, in order of first use; stages that share cores count half a core per thread, rounded
/// up.
std::vector<CoreCount> cores_used(const Schedule& schedule);

/// Throws ScheduleError saying what was expected unless the schedule fits the chain: all tasks in order,
/// names equal where known, core kinds that are known and run the stage's tasks, one thread where a task is
/// not replicable, words with a letter for each thread on a core of its own, batches where each task of the
/// stage takes them, no ring after the last stage.
void check(const Schedule& schedule, const Chain& chain);

/// Throws ScheduleError unless the platform has the cores that the schedule uses.
void check(const Schedule& schedule, const Platform& platform);

/// Throws ScheduleError where a stage is mixed: only the simulator runs those so far.
void check_not_mixed(const Schedule& schedule);

/// "packed", "guided", "distant", "loose".
std::string_view to_string(Pinning pinning);
/// "passive", "active".
std::string_view to_string(Waiting waiting);
/// Inverse of to_string(Pinning); nothing for any other text.
std::optional<Pinning> parse_pinning(std::string_view text);
/// Inverse of to_string(Waiting); nothing for any other text.
std::optional<Waiting> parse_waiting(std::string_view text);

/// A table for people: one line per stage, then period and cores used, and which tasks lack a word.
std::string to_table(const Schedule& schedule, const Chain& chain, const CostModel& model = {});

}  // namespace tidemill

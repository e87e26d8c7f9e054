#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/scheduling/static/chain.hpp"
#include "tidemill/scheduling/static/cost_model.hpp"

namespace tidemill {

/// Letters of a word at most: what its frames in flight cost grows with them, and what longer ones gain is
/// little.
inline constexpr std::size_t kMostLetters = 16;

/// Thread of a stage by frame.
class Turns {
  public:
    /// Each of so many threads in turn: frame k belongs to thread k mod threads.
    explicit Turns(std::size_t threads) : threads_(threads) {}

    /// As the letters of a word say, over and over: frame k belongs to thread letters[k mod letters.size()].
    /// Threads count from 0, and each has a letter.
    explicit Turns(std::vector<std::size_t> letters);

    std::size_t threads() const { return threads_; }

    /// Frames after which all repeats.
    std::size_t round() const { return letters_.empty() ? threads_ : letters_.size(); }

    std::size_t thread_of(std::uint64_t frame) const {
        return static_cast<std::size_t>(letters_.empty() ? frame % threads_
                                                         : letters_[frame % letters_.size()]);
    }

    /// The first frame of a thread.
    std::uint64_t first(std::size_t thread) const;

    /// The next frame of the thread that has this one.
    std::uint64_t next(std::uint64_t frame) const {
        return frame + (letters_.empty() ? threads_ : gaps_[frame % gaps_.size()]);
    }

    /// Frames for each one of this thread, on average.
    double frames_per_turn(std::size_t thread) const;

    /// Frames that the stage has to hold at a time so that each thread can be at work always; the number of
    /// threads where they go in turn.
    ///
    /// With so many tokens for each stage a pipeline's period is that of its slowest stage. Proof: let frames
    /// come to a stage one period apart. A thread with c of L letters may take L/c periods for each, else it
    /// would be slower than the period, and does its frames in order; so none stays longer than D, the
    /// largest of (j + 1) L/c minus the distance of a letter from the thread's j-th letter before it. If each
    /// frame leaves D after it came, the next stage's come one period apart, too, and frame k can begin at k
    /// periods where there are at least as many tokens as the sum of all D. A frame that goes on as soon as
    /// it can is never later than that.
    /// Where threads have other stages, too, each may be at another one when a frame comes, and a stage holds
    /// twice as many.
    std::size_t frames_held(bool has_owners = false) const;

  private:
    std::size_t threads_;
    std::vector<std::size_t> letters_{};  // empty: in turn
    std::vector<std::size_t> gaps_{};     // from each letter to the thread's next one
};

/// Turns in a stage whose threads sit on cores of several kinds: a thread's share of the frames is that of
/// its letters. Threads are numbered in the order of their first letters.
struct CyclicWord {
    std::vector<std::string> kinds;    // [thread]: of its core
    std::vector<std::size_t> letters;  // threads

    bool operator==(const CyclicWord&) const = default;

    /// How many letters a thread has.
    std::size_t count(std::size_t thread) const;

    Turns turns() const { return Turns(letters); }
};

/// The word in which each thread has so many letters, spread evenly. Threads that are equal but for their
/// numbers are numbered anew.
CyclicWord spread_word(std::span<const std::string> kinds, std::span<const std::size_t> counts);

/// Its letters as schedules name them: "big:1", "big:1", "little:1", each kind's threads counted from 1.
std::vector<std::string> letter_names(const CyclicWord& word);

/// The word of such letters: a kind, a colon, and a name for each of that kind's threads. Throws
/// ScheduleError for anything but letters, for more than kMostLetters and for none.
CyclicWord parse_word(std::span<const std::string> letters);

/// Fault of a word that nobody parsed, as "has ..., expected ..."; empty when there is none.
std::string fault_of(const CyclicWord& word);

/// An interval of tasks that runs on `threads` cores of one kind, or of several by a word.
struct Stage {
    std::size_t first_task = 0;
    std::size_t task_count = 0;
    int threads = 1;
    std::string core_kind;
    Pinning pinning = Pinning::kPacked;
    std::optional<int> sync_buff_size{};  // ring after this stage; never on the last one
    std::optional<WaitMode> waiting{};    // at that ring
    bool shares_core = false;             // each thread has half a core: two such threads share one
    std::optional<int> batch{};           // frames that it takes at once, of a device: as many as are there
    std::optional<CyclicWord> word{};     // where it is mixed: whose turn it is; core_kind is empty then
    std::vector<int> owners{};  // [thread]: its number among those of its kind that may own several stages;
                                // empty: it has threads of its own

    bool operator==(const Stage&) const = default;

    /// Threads of each kind of cores.
    std::vector<CoreCount> cores() const;

    /// Names of its kinds for people and results: "big", or "big+little".
    std::string kind_names() const;

    /// Kind of a thread's core.
    const std::string& kind_of(std::size_t thread) const { return word ? word->kinds[thread] : core_kind; }

    Turns turns() const { return word ? word->turns() : Turns(static_cast<std::size_t>(threads)); }

    /// Frames that it has to hold at a time.
    std::size_t frames_held() const { return turns().frames_held(!owners.empty()); }
};

/// A thread that stages name: those that name the same one share it. It runs the one furthest downstream
/// whose frame is there.
struct Owner {
    std::string kind;  // of its core
    int number = 1;

    auto operator<=>(const Owner&) const = default;
};

/// A thread's place in a stage.
struct Seat {
    std::size_t stage = 0;
    std::size_t thread = 0;  // of the stage

    bool operator==(const Seat&) const = default;
};

/// A run of hardware threads or cores by their hwloc logical numbers, both ends included.
struct NodeRange {
    enum class Unit { kPu, kCore };
    Unit unit = Unit::kPu;
    int first = 0;
    int last = 0;

    bool operator==(const NodeRange&) const = default;
};

/// As files name it: "PU3", "core0-5".
std::string to_string(const NodeRange& range);

/// Cores of a machine that a core kind stands for; with smt > 1 the second hardware threads follow the first.
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
    std::optional<int> frames_in_flight{};  // executions at most; none: what stages and rings hold

    bool operator==(const Schedule&) const = default;

    /// Number of tasks in all stages.
    std::size_t task_count() const;

    /// Threads of all stages; one that owns several counts once.
    int thread_count() const;

    /// The places of each thread that stages name, in the order of the stages.
    std::map<Owner, std::vector<Seat>> owners() const;
};

/// A stage's tasks.
std::span<const ChainTask> tasks_of(const Stage& stage, const Chain& chain);

/// Time of a task in a stage of a kind, per execution: on a device, in the stage's batches.
double task_weight_us(const ChainTask& task, std::size_t kind, const Stage& stage);

/// Part of the weights of a stage's tasks that a device saves: its frames stay there from one task to the
/// next.
double resident_us(const Stage& stage, const Chain& chain);

/// Weight of a stage in µs, as published: the sum of its tasks, shared by its threads when all of them are
/// replicable; on a device, in the stage's batches; by a word, that of the thread which it keeps busiest.
double stage_weight_us(const Stage& stage, const Chain& chain);

/// Host time of the stages on devices, per execution: the threads that feed them have no core of their own,
/// so any stage may be kept waiting for that long.
double host_us(const Schedule& schedule, const Chain& chain);

/// Load of the busiest thread, in µs, as published, and what devices take of the host: the time between two
/// executions when the pipeline is full. That is the largest stage weight, unless threads own several, or few
/// frames are in flight, which have to go through all stages.
double period_us(const Schedule& schedule, const Chain& chain);

/// The weights of a schedule's stages under a model: with their costs, slowed down as their kind's cores are
/// busy, and kept waiting by the threads of devices. Of several threads, that of the busiest.
std::vector<double> stage_weights_us(const Schedule& schedule, const Chain& chain, const CostModel& model);

/// The same of each thread, [stage][thread].
std::vector<std::vector<double>> thread_weights_us(const Schedule& schedule, const Chain& chain,
                                                   const CostModel& model);

/// Load of the threads that stages name, for an execution under a model, all their stages together.
std::map<Owner, double> owner_weights_us(const Schedule& schedule, const Chain& chain,
                                         const CostModel& model);

/// The same under a model.
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
/// stage takes them, owners as check_owners() wants them, no ring after the last stage, a frame in flight.
void check(const Schedule& schedule, const Chain& chain);

/// Throws ScheduleError unless each stage that names owners has a different one for each thread, takes no
/// batches, and each owner's stages have the same pinning and, all or none, halves of cores.
void check_owners(const Schedule& schedule);

/// Throws ScheduleError unless at least one frame may be in flight.
void check_frames_in_flight(const Schedule& schedule);

/// The part of that which concerns a stage's word, if it has one; stages are numbered from 1.
void check_word(const Stage& stage, std::size_t number);

/// Throws ScheduleError unless the platform has the cores that the schedule uses.
void check(const Schedule& schedule, const Platform& platform);

/// Inverse of to_string(Pinning); nothing for any other text.
std::optional<Pinning> parse_pinning(std::string_view text);
/// Inverse of to_string(WaitMode); nothing for any other text.
std::optional<WaitMode> parse_waiting(std::string_view text);

/// A table for people: one line per stage, then period and cores used, and which tasks lack a word.
std::string to_table(const Schedule& schedule, const Chain& chain, const CostModel& model = {});

}  // namespace tidemill

#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {

/// The weight of a task on a kind that it cannot run on.
inline constexpr double kCannotRun = std::numeric_limits<double>::infinity();

/// Microseconds of each batch, whatever its frames, and of each frame in it.
struct BatchLine {
    double batch_us = 0;
    double frame_us = 0;

    double us(int batch) const { return batch_us + batch * frame_us; }
    bool operator==(const BatchLine&) const = default;
};

/// Parts of a batch where it is alone on a device; nothing where that was not measured.
struct BatchParts {
    BatchLine copies{};      ///< to the device and back
    BatchLine kernel{};      ///< and what it does there
    double frame_bytes = 0;  ///< that are copied, both ways together
    std::string memory{};    ///< the policy that they are copied by

    bool is_measured() const { return !memory.empty(); }
    bool operator==(const BatchParts&) const = default;
};

/// Cost of a task on a device, which wants its frames in batches: a line.
struct BatchCost {
    std::string kind;       ///< of cores: the device
    double batch_us = 0;    ///< of each batch, whatever its frames
    double frame_us = 0;    ///< of each frame in it
    double frames = 1;      ///< that the task gets per execution
    double host_us = 0;     ///< of that, per frame, what keeps a core of the host busy
    int most_frames = 128;  ///< of a batch
    BatchParts alone{};     ///< why it takes so long: copies apart from the kernel
    BatchLine in{};         ///< of it, what is saved where the task before it leaves its frames there
    BatchLine out{};        ///< and where it leaves them there for the task behind it

    /// Per execution, in batches of so many frames.
    double weight_us(int batch) const { return frames * (batch_us / batch + frame_us); }
    /// Share of such a part.
    double share_us(const BatchLine& part, int batch) const { return frames * part.us(batch) / batch; }

    bool operator==(const BatchCost&) const = default;
};

/// How sure a measured weight is, in microseconds.
struct WeightSpread {
    double error_us = 0;  ///< standard error of the weight
    double p99_us = 0;    ///< of single calls: the tail
    double once_us = 0;   ///< what happened once while it was measured, and is not in the weight

    bool operator==(const WeightSpread&) const = default;
};

/// One unit of work in a chain; `weight_us` holds its latency on each of the chain's core kinds, in their
/// order, kCannotRun where it has none, and `bytes_after` what crosses a cut behind it per execution, 0 where
/// nobody knows.
struct ChainTask {
    std::string name;
    bool replicable = false;
    std::vector<double> weight_us;
    double bytes_after = 0;
    bool lacks_word = false;           ///< sequential only because its author has not said that it is pure
    std::vector<BatchCost> batches{};  ///< of the kinds that are devices; weights there are of whole batches
    std::vector<WeightSpread> spread{};  ///< of the weights, in their order; none where nobody knows

    bool operator==(const ChainTask&) const = default;
};

namespace internal {

/// Beyond any machine; keeps what looks through all kinds short.
inline constexpr std::size_t kMaxKinds = 64;

}  // namespace internal

/// Tasks in the order in which a frame passes them, with their weights on each core kind, per execution.
struct Chain {
    std::vector<std::string> kinds;
    std::vector<ChainTask> tasks;

    bool operator==(const Chain&) const = default;

    /// Place of a core kind in `kinds`; throws ScheduleError naming the kinds that there are.
    std::size_t kind_index(std::string_view kind) const;

    /// Whether a kind is a device: some task has a BatchCost on it.
    bool is_device(std::string_view kind) const;
};

/// How many cores of one kind.
struct CoreCount {
    std::string kind;
    int count = 0;

    bool operator==(const CoreCount&) const = default;
};

/// The cores a schedule may use: `Platform{.big = 4, .little = 8}`; kinds beyond the published two go to
/// `others`.
struct Platform {
    int big = 0;
    int little = 0;
    std::vector<CoreCount> others{};

    /// All kinds in the order in which strategies spare them: big, little, then the others as listed.
    std::vector<CoreCount> kinds() const;

    /// Cores of a kind, 0 when the platform does not have it.
    int count(std::string_view kind) const;

    /// Sets the number of cores of a kind, adding the kind when it is new.
    void set(std::string_view kind, int count);

    bool operator==(const Platform&) const = default;
};

/// A chain whose weights were measured: by what, on which cores (none when unknown), and how many source
/// frames one execution carries.
struct Profile : Chain {
    int frames_per_execution = 1;
    Platform cores;
    std::string measured_by;
    std::vector<std::string> warnings{};  ///< what makes the weights less sure than they look

    bool operator==(const Profile&) const = default;
};

/// Reads "big=2,little=4"; throws ScheduleError on anything else, on counts below 0 and on a kind given
/// twice.
Platform parse_platform(std::string_view text);

/// Writes a platform as parse_platform() reads it, kinds without cores left out.
std::string to_string(const Platform& platform);

/// "2 big, 4 little", kinds without cores left out.
std::string in_words(const std::vector<CoreCount>& cores);

/// Cost of a task in batches on a kind; null where that is no device, or the task does not run there.
const BatchCost* batch_cost(const ChainTask& task, std::string_view kind);

/// Throws ScheduleError unless the chain has tasks and kinds, unique names, finite weights and bytes of at
/// least 0, and a kind for each task that it can run on.
void check(const Chain& chain);

/// Names the tasks that lack a word, in one line, or in none: so that nobody loses speed unawares.
std::string missing_words(const Chain& chain);

/// The chain with every weight rounded to whole nanoseconds, and bytes to whole ones, for measured numbers
/// with endless decimals.
Chain rounded(Chain chain);

}  // namespace tidemill

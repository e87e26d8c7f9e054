#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tidemill::peers {

inline constexpr std::size_t kTasks = 8;    ///< on each frame, one behind the other
inline constexpr std::size_t kWorkers = 2;  ///< threads
inline constexpr std::size_t kWindow = 64;  ///< frames in flight

/// How many tasks a thread has run. On lines of their own, so that counting costs all runtimes the same.
struct alignas(64) Tally {
    std::uint64_t tasks = 0;
};

/// The tallies of all threads that have run tasks in this program.
class Tallies {
  public:
    /// The calling thread's, for good. Beyond 64 threads they are shared, which only blurs the counts.
    static Tally& add() { return all_[next_.fetch_add(1, std::memory_order_relaxed) % all_.size()]; }
    /// Times of the busiest `kWorkers` threads since the last call, the busiest first; when nothing runs.
    static std::array<std::uint64_t, kWorkers> take();

  private:
    inline static std::array<Tally, 64> all_{};
    inline static std::atomic<std::size_t> next_{0};
};

/// State of a task from frame to frame.
struct alignas(64) TaskState {
    std::uint64_t frames = 0;
    std::uint64_t hash = 0;  ///< of what it has read, in order
};

/// One task on one frame, the same for all runtimes: `turns` of some arithmetic that nothing can shorten,
/// each about a nanosecond and a half. Compiled once, so that no runtime has a better loop.
std::uint64_t run_task(TaskState& state, std::uint64_t value, std::uint64_t turns);

/// A runtime with a stream of the tasks 0 to 7 ready to be run; the first reads its own count of frames.
class StreamPeer {
  public:
    virtual ~StreamPeer() = default;
    StreamPeer() = default;
    StreamPeer(const StreamPeer&) = delete;
    StreamPeer& operator=(const StreamPeer&) = delete;

    virtual std::string name() const = 0;

    /// Runs so many frames, each task with so many turns.
    virtual void run(std::uint64_t frames, std::uint64_t turns) = 0;

    /// Where its tasks remember.
    std::array<TaskState, kTasks>& states() { return states_; }

  private:
    std::array<TaskState, kTasks> states_{};
};

/// The names of what there is, ours first; "in order" are the tasks alone.
inline constexpr const char* kStreamNames[] = {"Dynamic",
#ifdef TIDEMILL_WITH_TBB
                                               "parallel_pipeline",
#endif
#ifdef TIDEMILL_WITH_TASKFLOW
                                               "ScalablePipeline",
#endif
#ifdef TIDEMILL_WITH_STREAMPU
                                               "StreamPU",
#endif
                                               "in order"};

std::unique_ptr<StreamPeer> make_dynamic_stream();
// Null where the runtime was not there when this was built.
std::unique_ptr<StreamPeer> make_tbb_stream();
std::unique_ptr<StreamPeer> make_taskflow_stream();
std::unique_ptr<StreamPeer> make_streampu_stream();

}  // namespace tidemill::peers

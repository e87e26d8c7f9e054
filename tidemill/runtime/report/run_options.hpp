#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "tidemill/machine/energy_meter.hpp"
#include "tidemill/runtime/graph/frame.hpp"
#include "tidemill/runtime/graph/knob.hpp"
#include "tidemill/runtime/report/observer.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

class CheckpointFile;
class Journal;
struct Checkpoint;
struct JournalRecord;

/// Numbers that tasks see for frames: first + k * step for the k-th. Of n runs of the same graph that share
/// one stream of seeds, run d numbers its frames d, d + n, d + 2n, ...
struct FrameNumbers {
    std::uint64_t first = 0;
    std::uint64_t step = 1;

    std::uint64_t of(std::uint64_t frame) const { return first + frame * step; }
    std::uint64_t frame_of(std::uint64_t number) const { return (number - first) / step; }
};

/// Treatment of a source frame that is due when there is no room for it.
enum class Late : std::uint8_t {
    wait,         ///< the source waits; nothing is lost
    drop_newest,  ///< the source makes it, and it ends there: later tasks see a gap in the numbers
    drop_oldest,  ///< the same of the one that has waited longest for the second stage, whose place it gets
};

/// A frame that takes longer than the run's deadline.
struct LateFrame {
    std::uint64_t frame;      ///< as the task sees its number
    const std::string& task;  ///< "module.task", at work when its time was over
};

/// When a run ends, besides at the end of its source. What `stop_when` or an observer throws, on any thread,
/// ends the run as `stop` does: frames in flight are finished, run() throws it, and the stream can be
/// resumed.
struct RunOptions {
    std::uint64_t frames = kEndless;      ///< source frames to begin at most
    std::function<bool()> stop_when{};    ///< asked before each source frame
    std::stop_token stop{};               ///< ends the run from another thread
    bool statistics = true;               ///< off: no times in the report, and no cost
    std::vector<Observer*> observers{};   ///< look at every call and wait; they must outlive the run
    FrameNumbers numbers{};               ///< other than 0, 1, 2, ...
    EnergyMeter* energy_meter = nullptr;  ///< read while the run goes on; null: energy is not measured
    /// The stream ends with this run, whatever ends the run: tasks with the word at_end see the end. A resume
    /// begins no more frames.
    bool finish = false;
    KnobSettings knobs{};        ///< made before the first frame
    Journal* journal = nullptr;  ///< keeps what reaches the run from outside; it must outlive the run
    const JournalRecord* replay = nullptr;  ///< what reached another run reaches this one at the same frames
    CheckpointFile* checkpoint = nullptr;   ///< is kept up to date; it must outlive the run
    const Checkpoint* restore = nullptr;    ///< the stream goes on where this was taken, whatever went before
    Late late = Late::wait;  ///< with `replay`, what was dropped there is dropped here, and no more
    std::chrono::nanoseconds deadline{0};  ///< frames that take longer are reported as late; 0: none
    /// Called for each late frame at once, by the thread that works on it, so of several at the same time: a
    /// controller that sets knobs. Not of what comes behind the stream's end. What it throws is its task's
    /// error.
    std::function<void(const LateFrame&)> when_late{};
};

}  // namespace tidemill

#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/steer/cpu_set.hpp"
#include "tidemill/steer/proc_text.hpp"

namespace tidemill::steer {

/// Result of a wish to keep a thread on some PUs.
enum class Outcome {
    done,
    gone,        ///< the thread has ended
    refused,     ///< it is somebody else's
    impossible,  ///< none of these PUs is there, or may be used by it
};

/// A thread that is held: whatever becomes of its number, this speaks of it and of no other.
class HeldThread {
  public:
    virtual ~HeldThread() = default;

    // Nothing when the thread has ended.
    virtual std::optional<ThreadFacts> facts() = 0;
    virtual std::optional<ThreadTimes> times() = 0;
    virtual std::optional<CpuSet> affinity() = 0;

    virtual Outcome set_affinity(const CpuSet& set) = 0;
};

/// A process that is held in the same way.
class HeldProcess {
  public:
    virtual ~HeldProcess() = default;

    virtual bool has_ended() = 0;
    /// Whether the number of its threads is another one than when threads() was last called.
    virtual bool has_other_threads() = 0;
    virtual std::vector<int> threads() = 0;
    /// Null when that thread is gone, or cannot be held: see System::shortage().
    virtual std::unique_ptr<HeldThread> hold(int thread) = 0;
    /// The PUs that its control group may use; nothing where that cannot be known.
    virtual std::optional<CpuSet> allowed() = 0;
};

/// The machine, as far as steering looks at it; a test brings its own.
class System {
  public:
    virtual ~System() = default;

    virtual double now_s() = 0;  ///< never falls
    /// Since the system's start, as ThreadFacts::start_ticks.
    virtual std::uint64_t now_ticks() = 0;
    virtual double processor_s() = 0;  ///< that this process took
    virtual CpuSet online() = 0;
    /// Every PU that there could ever be.
    virtual CpuSet possible() = 0;
    virtual std::string boot_id() = 0;

    /// Whether processes may have begun since the last call.
    virtual bool has_new_processes() = 0;
    virtual std::vector<int> processes() = 0;
    /// The processes of a control group and those below it; throws SteerError where there is none.
    virtual std::vector<int> group(const std::filesystem::path& path) = 0;
    /// Null when it is gone, or cannot be held.
    virtual std::unique_ptr<HeldProcess> hold(int process) = 0;
    /// Why something could not be held though it is there, in one sentence; empty when all could.
    virtual std::string shortage() = 0;
};

}  // namespace tidemill::steer

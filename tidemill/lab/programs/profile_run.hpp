#pragma once

#include <cstdint>
#include <string>

#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/scheduling/dynamic/throttle.hpp"
#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

struct ProfileRunOptions {
    Platform cores{};  ///< no more than this machine has
    std::string policy = "gpriority";
    policy::Window window{.iterations = 16};
    Placing placing = Placing::learned;
    std::uint64_t frames = 0;  ///< 0: as many as take about `seconds`
    double seconds = 1;
    bool independent = false;  ///< the tasks of a frame need not follow each other
    bool checked = true;       ///< compared with a run in order
};

/// A profile's chain on real workers: tasks compute for as long as they weigh on the kind where they are
/// fastest, and other kinds are emulated.
///
/// Throws ScheduleError for a kind that the profile does not weigh and for a task that runs nowhere,
/// PolicyError for a policy or window that cannot be, GraphError for a window without room for a frame,
/// WrongResult.
RunReport run_profile(const Profile& profile, const ProfileRunOptions& options);

}  // namespace tidemill

#pragma once

#include <span>
#include <vector>

namespace tidemill {

/// The operating-system numbers of the PUs that a thread may run on now, ascending; 0 is the calling thread.
/// Empty, and errno says why, when the system does not report it: ESRCH for a thread that is gone.
std::vector<int> affinity_of_thread(int thread);

/// Keeps a thread on these PUs. Returns 0 or the system's error number: ESRCH for a thread that is gone,
/// EPERM for somebody else's, EINVAL where it may use none of them or no system has such a number.
int set_affinity_of_thread(int thread, std::span<const int> os_numbers);

}  // namespace tidemill

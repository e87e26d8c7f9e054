#pragma once

#include <filesystem>
#include <string_view>

#include "tidemill/scheduling/static/chain.hpp"
#include "tidemill/scheduling/unequal/factor_file.hpp"

namespace tidemill::bridge {

/// Times of a profile's tasks, as measured by nobody knows how many calls. A call is an execution of the
/// profile there. Kinds that are devices are left out.
FactorFile known_tasks(const Profile& profile);

/// A factor file, or a profile; throws BridgeError naming the place in it.
FactorFile read_known_tasks(const std::filesystem::path& path);

/// A profile of what ran, without a rehearsal: the tasks in their order, their times per source frame. What
/// never ran on a kind is estimated by the other tasks' times there, which is a warning, and so are kinds on
/// which none ran, which are left out. Throws BridgeError naming `source` where a task never ran, or where it
/// is unknown how times on two kinds are related.
Profile profile_of(const FactorFile& file, std::string_view source);

/// A profile, or what profile_of() makes of a factor file; throws ScheduleError or BridgeError.
Profile read_profile_or_factors(const std::filesystem::path& path);

}  // namespace tidemill::bridge

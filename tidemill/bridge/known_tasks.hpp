#pragma once

#include <filesystem>

#include "tidemill/bridge/factor_file.hpp"
#include "tidemill/schedule/chain.hpp"

namespace tidemill::bridge {

/// What a profile knows of its tasks, as measured by nobody knows how many calls. A call is an execution of
/// the profile there. Kinds that are devices are left out.
FactorFile known_tasks(const Profile& profile);

/// A factor file, or a profile; throws BridgeError naming the place in it.
FactorFile read_known_tasks(const std::filesystem::path& path);

}  // namespace tidemill::bridge

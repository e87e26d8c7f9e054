#pragma once

#include <string>

#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill::cli {

/// A profile as a table for people: one line per task, its weight on each kind of core.
std::string profile_table(const Profile& profile);

}  // namespace tidemill::cli

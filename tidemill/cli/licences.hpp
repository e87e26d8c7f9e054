#pragma once

#include <string_view>

namespace tidemill::cli {

/// The licence of Tidemill, and the notices of all whose code is in it.
std::string_view licences();

}  // namespace tidemill::cli

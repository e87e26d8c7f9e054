#pragma once

#include <string>

namespace tidemill::cli::internal {

/// What tests drive, and the folder with what they always have; the build tells.
const std::string& program_path();
const std::string& data_folder();

}  // namespace tidemill::cli::internal

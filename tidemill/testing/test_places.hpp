#pragma once

#include <string>

namespace tidemill::cli::internal {

/// The program that tests drive, and the folder with their data; the build sets both.
const std::string& program_path();
const std::string& data_folder();

}  // namespace tidemill::cli::internal

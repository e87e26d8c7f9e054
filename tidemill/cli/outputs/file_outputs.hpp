#pragma once

#include <memory>
#include <string>

#include "tidemill/cli/outputs/output_kinds.hpp"

namespace tidemill::cli {

/// A file, a row of files, a pipe, a device, or standard output. Throws IoError.
std::unique_ptr<ByteOutput> open_file_output(const std::string& path, const OutputStyle& style);

}  // namespace tidemill::cli

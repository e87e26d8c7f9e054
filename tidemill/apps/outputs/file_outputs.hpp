#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "tidemill/apps/outputs/output_kinds.hpp"

namespace tidemill::cli {

/// A file, a row of files, a pipe, a device, or standard output. `piece`: bytes of what is written whole; 1:
/// of any size. Throws IoError.
std::unique_ptr<ByteOutput> open_file_output(const std::string& path, const OutputStyle& style,
                                             std::size_t piece);

}  // namespace tidemill::cli

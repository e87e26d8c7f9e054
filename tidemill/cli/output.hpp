#pragma once

#include <filesystem>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::cli {

/// Does what writes a result. An output that cannot be written is a failed job, not an unusable input.
template <class Write>
auto writing(Write write) {
    try {
        return write();
    } catch (const io::IoError& error) {
        throw JobFailed(error.what());
    }
}

/// Throws WrongUsage when writing `output` would destroy the file `input` that is being read.
void refuse_overwriting(const std::filesystem::path& output, const std::filesystem::path& input);

}  // namespace tidemill::cli

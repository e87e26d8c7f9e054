#pragma once

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

}  // namespace tidemill::cli

#pragma once

#include "tidemill/base/cli_error.hpp"

namespace tidemill::cli {

/// Does what writes a result. An output that cannot be written is a failed job, whatever room says so, and
/// not an unusable input.
template <class Write>
auto writing(Write write) {
    try {
        return write();
    } catch (const Error& error) {
        throw JobFailed(error.what());
    }
}

}  // namespace tidemill::cli

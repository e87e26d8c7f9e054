#pragma once

#include "tidemill/base/json_error.hpp"
#include "tidemill/scheduling/unequal/bridge_error.hpp"

namespace tidemill::bridge {

/// Result of `act`; an error in a file or a text of JSON becomes one of this folder.
template <typename Act>
auto as_bridge_error(Act act) {
    try {
        return act();
    } catch (const JsonError& error) {
        throw BridgeError(error.what());
    }
}

}  // namespace tidemill::bridge

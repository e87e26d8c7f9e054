#pragma once

#include "tidemill/base/json_error.hpp"
#include "tidemill/scheduling/unequal/bridge_error.hpp"

namespace tidemill::bridge {

/// What `act` returns; what is wrong with a file or a text of JSON is an error of this room.
template <typename Act>
auto as_bridge_error(Act act) {
    try {
        return act();
    } catch (const JsonError& error) {
        throw BridgeError(error.what());
    }
}

}  // namespace tidemill::bridge

#pragma once

namespace tidemill {

/// The ending of an English noun behind its number.
constexpr const char* plural(auto number) {
    return number == 1 ? "" : "s";
}

}  // namespace tidemill

#pragma once

#include <cstddef>
#include <string>

#include "tidemill/error.hpp"

namespace tidemill {

/// A text that is no JSON, or not what was expected there: the file, the place in it, what is wrong.
class JsonError : public Error {
  public:
    explicit JsonError(const std::string& what)
        : Error(what.size() <= kMost ? what : what.substr(0, kMost) + "...") {}

    /// Names and texts of a file come into messages, however long they are.
    static constexpr std::size_t kMost = 500;
};

}  // namespace tidemill

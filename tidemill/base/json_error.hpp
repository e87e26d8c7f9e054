#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "tidemill/base/error.hpp"

namespace tidemill {

/// A text that is no JSON, or not what was expected there: the file, the place in it, what is wrong.
class JsonError : public Error {
  public:
    explicit JsonError(const std::string& what) : Error(whole(what)) {}

    /// Names and texts of a file come into messages, however long they are.
    static constexpr std::size_t kMost = 500;

  private:
    // A zero byte in a name would end the message.
    static std::string whole(std::string text) {
        if (text.size() > kMost) text.replace(kMost, std::string::npos, "...");
        std::ranges::replace(text, '\0', '\1');
        return text;
    }
};

}  // namespace tidemill

#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace tidemill {

/// What Tidemill throws: each room has one type of its own below this one. What happened, where, and what to
/// do.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The text of an exception, which may be a user's: its what() may be null.
inline std::string message_of(const std::exception& error) {
    const char* const text = error.what();
    return text ? text : "an exception whose what() is null";
}

/// The same for any exception.
inline std::string message_of(const std::exception_ptr& cause) {
    try {
        std::rethrow_exception(cause);
    } catch (const std::exception& error) {
        return message_of(error);
    } catch (...) {
        return "an exception that is not a std::exception";
    }
}

}  // namespace tidemill

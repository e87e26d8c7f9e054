#pragma once

#include <exception>
#include <stdexcept>
#include <string>

// The containers of libstdc++'s debug mode are other types, so a program that has it would not link with
// libraries that have not.
#if defined(_GLIBCXX_DEBUG) && !defined(TIDEMILL_GLIBCXX_DEBUG)
#error \
    "Tidemill was built without _GLIBCXX_DEBUG: define _GLIBCXX_ASSERTIONS instead, or build Tidemill and the program with -D_GLIBCXX_DEBUG -DTIDEMILL_GLIBCXX_DEBUG"
#endif

namespace tidemill {

/// The side on which the fault lies; a program ends with this as its status.
enum class Fault : int { job = 1, usage = 2, input = 3, policy = 4 };

/// Error of Tidemill: each house has one type of its own below this one. What happened, where, and what to
/// do.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;

    virtual Fault fault() const { return Fault::job; }
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

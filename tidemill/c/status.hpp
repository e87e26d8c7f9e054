#pragma once

#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "tidemill/base/error.hpp"
#include "tidemill/c/tidemill.h"

namespace tidemill::c {

/// A call with an argument that cannot be: which, and what can.
class CallError : public Error {
  public:
    using Error::Error;
};

/// Keeps what went wrong for tidemill_error() of this thread.
void keep_error(const std::string& what) noexcept;

/// Throws CallError naming the argument that is null.
template <class T>
T& given(T* pointer, const char* name) {
    if (!pointer) throw CallError(std::string(name) + " is null; give one");
    return *pointer;
}

/// Bytes of so many; throws CallError for more than any memory holds.
inline std::size_t bytes_of(std::size_t count, std::size_t each, const char* name) {
    if (count > std::numeric_limits<std::size_t>::max() / each)
        throw CallError(std::to_string(count) + " " + name + ": no memory holds that many");
    return count * each;
}

/// Does what no exception may leave: nothing goes through C.
template <class Work>
tidemill_status carefully(Work&& work, tidemill_status otherwise = TIDEMILL_FAILED) noexcept {
    try {
        std::forward<Work>(work)();
        return TIDEMILL_OK;
    } catch (const CallError& error) {
        keep_error(error.what());
        return TIDEMILL_REFUSED;
    } catch (const std::bad_alloc&) {
        keep_error("there is not that much memory: ask for less");
        return otherwise;
    } catch (const std::exception& error) {
        keep_error(error.what());
        return otherwise;
    } catch (...) {
        keep_error("an error that is no exception of C++'s library");
        return otherwise;
    }
}

/// The same for what makes something: null where it cannot.
template <class Make>
auto made_carefully(Make&& make) noexcept {
    decltype(make().release()) made = nullptr;
    (void)carefully([&] { made = make().release(); });
    return made;
}

}  // namespace tidemill::c

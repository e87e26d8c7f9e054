#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tidemill {

namespace internal {

/// An open library; null where there is none, and `why` then holds the loader's message.
void* open_library(const std::string& file, std::string& why);
/// Address of a function; null where the library has none of that name.
void* address_in(void* library, const std::string& name);
std::string missing_text(const std::string& file, const std::string& name);

}  // namespace internal

/// A library found at run time, so that building needs nothing of it; open until the program ends, for
/// drivers do not like to be closed. A function that is missing is reported by a Failure, made of a text.
template <class Failure>
class SharedLibrary {
  public:
    /// An empty name is the program itself. Empty where there is none; `why` then holds the loader's message.
    static std::optional<SharedLibrary> open(const std::string& file, std::string& why) {
        void* const handle = internal::open_library(file, why);
        return handle ? std::optional(SharedLibrary(file, handle)) : std::nullopt;
    }

    /// Sets `function`; throws Failure naming library and function where it is missing.
    template <class Function>
    void find(const std::string& name, Function*& function) const {
        find_optional(name, function);
        if (function == nullptr) throw Failure(internal::missing_text(file_, name));
    }

    /// The same, a null pointer where it is missing.
    template <class Function>
    void find_optional(const std::string& name, Function*& function) const {
        function = reinterpret_cast<Function*>(internal::address_in(handle_, name));
    }

  private:
    SharedLibrary(std::string file, void* handle) : file_(std::move(file)), handle_(handle) {}

    std::string file_;
    void* handle_;
};

}  // namespace tidemill

#pragma once

#include <optional>
#include <string>

namespace tidemill::device {

/// A library found at run time, open until the program ends: drivers do not like to be closed.
class SharedLibrary {
  public:
    /// Empty where there is none; `why` then tells what the loader said.
    static std::optional<SharedLibrary> open(const std::string& file, std::string& why);

    /// Sets `function`; throws DeviceError naming library and function when it is missing.
    template <class Function>
    void find(const char* name, Function*& function) const {
        function = reinterpret_cast<Function*>(address(name));
    }

    /// The same, a null pointer when it is missing.
    template <class Function>
    void find_optional(const char* name, Function*& function) const {
        function = reinterpret_cast<Function*>(address_or_null(name));
    }

  private:
    SharedLibrary(std::string file, void* handle) : file_(std::move(file)), handle_(handle) {}
    void* address(const char* name) const;
    void* address_or_null(const char* name) const;

    std::string file_;
    void* handle_;
};

}  // namespace tidemill::device

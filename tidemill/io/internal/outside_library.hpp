#pragma once

#include <string>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io::internal {

/// A shared library that is looked for at run time, so that nothing needs it to be built; it stays open.
class OutsideLibrary {
  public:
    /// An empty name is the program itself.
    explicit OutsideLibrary(std::string file)
        : handle_(dlopen(file.empty() ? nullptr : file.c_str(), RTLD_NOW | RTLD_LOCAL)),
          file_(std::move(file)) {}

    /// Where it is not, dlerror() says why.
    bool is_there() const { return handle_ != nullptr; }

    /// Throws IoError where it has no such function.
    template <class Function>
    void find(const std::string& name, Function*& function) const {
        void* const found = dlsym(handle_, name.c_str());
        if (!found) throw IoError(fmt::format("{} has no function {}: is it too old?", file_, name));
        function = reinterpret_cast<Function*>(found);
    }

  private:
    void* handle_;
    std::string file_;
};

}  // namespace tidemill::io::internal

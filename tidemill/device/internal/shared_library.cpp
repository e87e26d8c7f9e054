#include "tidemill/device/internal/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "tidemill/device/device_error.hpp"

namespace tidemill::device {

std::optional<SharedLibrary> SharedLibrary::open(const std::string& file, std::string& why) {
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        why = dlerror();
        return std::nullopt;
    }
    return SharedLibrary(file, handle);
}

void* SharedLibrary::address_or_null(const char* name) const {
    return dlsym(handle_, name);
}

void* SharedLibrary::address(const char* name) const {
    void* found = address_or_null(name);
    if (found == nullptr) {
        throw DeviceError(
            fmt::format("{} has no function {}: it is too old, or something else by that name", file_, name));
    }
    return found;
}

}  // namespace tidemill::device

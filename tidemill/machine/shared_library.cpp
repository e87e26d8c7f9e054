#include "tidemill/machine/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tidemill::internal {

void* open_library(const std::string& file, std::string& why) {
    void* const library = dlopen(file.empty() ? nullptr : file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) why = dlerror();
    return library;
}

void* address_in(void* library, const std::string& name) {
    return dlsym(library, name.c_str());
}

std::string missing_text(const std::string& file, const std::string& name) {
    return fmt::format("{} has no function {}: it is too old, or something else by that name", file, name);
}

}  // namespace tidemill::internal

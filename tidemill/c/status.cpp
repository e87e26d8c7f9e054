#include "tidemill/c/status.hpp"

namespace {

thread_local std::string last_error;

}  // namespace

namespace tidemill::c {

void keep_error(const std::string& what) noexcept {
    try {
        last_error = what;
    } catch (...) {
        last_error.clear();
    }
}

}  // namespace tidemill::c

const char* tidemill_error(void) {
    return last_error.c_str();
}

const char* tidemill_version(void) {
    return TIDEMILL_VERSION;
}

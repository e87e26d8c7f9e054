#include "tidemill/tuning/adapt/keep_adapting.hpp"

#include <chrono>
#include <utility>

#include "tidemill/base/error.hpp"

namespace tidemill {

KeepAdapting::KeepAdapting(std::function<void()> look, double every_s)
    : looks_(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(every_s)),
             [look = std::move(look)] { return look(), true; }) {}

std::string KeepAdapting::finish() {
    const std::exception_ptr failure = looks_.end();
    return failure ? message_of(failure) : "";
}

}  // namespace tidemill

#include "tidemill/scheduling/static/interruption.hpp"

#include <utility>

namespace tidemill {

namespace {

thread_local const std::stop_token* stop_here = nullptr;

}  // namespace

Interruptible::Interruptible(std::stop_token stop)
    : stop_(std::move(stop)), before_(std::exchange(stop_here, &stop_)) {}

Interruptible::~Interruptible() {
    stop_here = before_;
}

std::stop_token interruption() {
    return stop_here ? *stop_here : std::stop_token();
}

void interruption_point() {
    if (stop_here && stop_here->stop_requested()) throw Interrupted();
}

}  // namespace tidemill

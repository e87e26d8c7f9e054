#include "tidemill/run/profile/keep_adapting.hpp"

#include <exception>
#include <utility>

#include "tidemill/guard.hpp"
#include "tidemill/platform/start_thread.hpp"

namespace tidemill {

KeepAdapting::KeepAdapting(std::function<void()> look, double every_s)
    : look_(std::move(look)), thread_(start_thread([this, every_s](const std::stop_token& done) {
          look_until(done, std::chrono::duration<double>(every_s));
      })) {}

std::string KeepAdapting::finish() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    return failure_;
}

void KeepAdapting::look_until(const std::stop_token& done, std::chrono::duration<double> period) {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, done, period, [&] { return done.stop_requested(); })) {
        if (done.stop_requested()) return;
        if (const auto failure = internal::thrown_by(look_)) {
            failure_ = message_of(failure);
            return;
        }
    }
}

}  // namespace tidemill

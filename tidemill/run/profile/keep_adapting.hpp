#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tidemill {

/// Looks again and again whether a stream would run better otherwise, on a thread of its own, while it runs.
class KeepAdapting {
  public:
    KeepAdapting(std::function<void()> look, double every_s);

    /// Ends the looking. Returns why it ended before, or nothing.
    std::string finish();

  private:
    void look_until(const std::stop_token& done, std::chrono::duration<double> period);

    std::function<void()> look_;
    std::string failure_;
    std::mutex mutex_;  // for the condition alone
    std::condition_variable_any wake_;
    std::jthread thread_;
};

}  // namespace tidemill

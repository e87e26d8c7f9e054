#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "tidemill/run/profile/adaptation.hpp"

namespace tidemill {

/// Lets an adaptation look again and again, on a thread of its own, while a pipeline runs.
class KeepAdapting {
  public:
    /// `changed` is called after each change of schedule.
    KeepAdapting(Adaptation& adaptation, double every_s, std::function<void(const Schedule&)> changed = {});

    /// Ends the looking. Returns why it ended before, or nothing.
    std::string finish();

  private:
    void look_until(const std::stop_token& done, std::chrono::duration<double> period);

    Adaptation& adaptation_;
    std::function<void(const Schedule&)> changed_;
    std::string failure_;
    std::mutex mutex_;  // for the condition alone
    std::condition_variable_any wake_;
    std::jthread thread_;
};

}  // namespace tidemill

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace tidemill::cli {

/// Looks after a long job: shows a progress line on standard error, and turns Ctrl-C (SIGINT), SIGTERM and
/// SIGHUP into a stop request. A second one ends the program at once.
class Watch {
  public:
    /// `line` tells how far the job is; it is called from another thread. Empty: nothing is shown.
    explicit Watch(std::function<std::string()> line) : Watch(std::move(line), {}) {}

    /// Inside another program, where `outside` is what ends the job: shows nothing, and leaves signals alone.
    Watch(std::function<std::string()> line, const std::stop_token& outside);

    /// Shows the last state and ends the line.
    ~Watch();

    /// Requested when the user wants the job to end.
    std::stop_token stop() const { return stop_.get_token(); }
    bool interrupted() const { return stop_.stop_requested(); }

    /// Sleeps, but not longer than the user wants the job to go on.
    void sleep_until(std::chrono::steady_clock::time_point time);

  private:
    void look_after(const std::stop_token& done);
    void show(bool last);

    struct PassOn {
        std::stop_source& stop;
        void operator()() const { stop.request_stop(); }
    };

    std::function<std::string()> line_;
    bool terminal_;
    std::stop_source stop_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::optional<std::stop_callback<PassOn>> pass_on_;
    std::jthread thread_;  // none inside another program
};

}  // namespace tidemill::cli

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace tidemill::cli {

/// Looks after a long job: shows a progress line on standard error, and turns Ctrl-C into a stop request.
/// A second Ctrl-C ends the program at once.
class Watch {
  public:
    /// `line` tells how far the job is; it is called from another thread.
    explicit Watch(std::function<std::string()> line);

    /// Shows the last state and ends the line.
    ~Watch();

    /// Requested when the user pressed Ctrl-C.
    std::stop_token stop() const { return stop_.get_token(); }
    bool interrupted() const { return stop_.stop_requested(); }

  private:
    void look_after(const std::stop_token& done);
    void show(bool last);

    std::function<std::string()> line_;
    bool terminal_;
    std::stop_source stop_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_;
};

}  // namespace tidemill::cli

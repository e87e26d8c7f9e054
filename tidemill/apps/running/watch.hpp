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

/// Listens to the user's signals from now on, for a job that has several parts, each of which may have a
/// Watch: one that is asked for between two parts ends the next one.
class Listening {
  public:
    /// With `outside`, inside another program, signals are left alone.
    explicit Listening(const std::stop_token& outside);
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    ~Listening();

    /// Whether the user, or `outside`, wants the job to end.
    bool wants_end() const;

  private:
    std::stop_token outside_;
};

/// Ends the job that is watched, as Ctrl-C does; of later jobs only those that begin before it is asked
/// again.
void ask_to_end() noexcept;

/// Looks after a long job: shows a progress line on standard error, and turns Ctrl-C (SIGINT), SIGTERM and
/// SIGHUP into a stop request. A second one ends the program at once, but for one within 200 ms: a signal to
/// a process and its group is meant once.
class Watch {
  public:
    /// `line` describes the progress; it is called from another thread. Empty, or where it gives nothing:
    /// nothing is shown.
    explicit Watch(std::function<std::string()> line) : Watch(std::move(line), {}) {}

    /// Inside another program, where `outside` is what ends the job: shows nothing, and leaves signals alone.
    Watch(std::function<std::string()> line, const std::stop_token& outside);

    /// Whether progress is a line that is drawn again and again.
    static bool draws();

    /// Writes a line of its own, above the one that shows progress.
    static void tell_line(const std::string& line);

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
    std::string told_{};  // last, where it is no terminal
    std::stop_source stop_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::optional<std::stop_callback<PassOn>> pass_on_;
    std::optional<Listening> listening_;
    std::jthread thread_;  // none inside another program
};

}  // namespace tidemill::cli

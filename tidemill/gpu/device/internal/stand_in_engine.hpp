#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "tidemill/gpu/device/stand_in.hpp"

namespace tidemill {

/// Engine of a stand-in device: a thread, and queues of jobs of three units that work beside each other. A
/// job begins when a device would begin it, which needs no thread to wake up for that.
class StandInDevice::Engine {
  public:
    using Clock = std::chrono::steady_clock;
    enum class Unit { copy_in, compute, copy_out, mark };

    struct Job {
        Unit unit;
        double us;
        std::function<void()> effect;  // when it is done
        bool hangs = false;
        std::shared_ptr<Clock::time_point> reached{};  // reported then
        Clock::time_point sent{};
    };

    // Jobs in order; at most the first of them is on its way.
    struct Line {
        std::deque<Job> jobs{};
        std::uint64_t sent = 0;
        std::uint64_t done = 0;
        bool is_running = false;
        bool is_in_effect = false;  // of the first
        Clock::time_point ends{};
    };

    explicit Engine(StandInOptions options);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    const StandInOptions& options() const { return options_; }
    /// Counts a call; throws DeviceError when it is the one that is to fail. True when it is the one that
    /// hangs.
    bool call(const char* what);
    std::uint64_t calls();

    std::size_t free_bytes();
    /// Throws DeviceMemoryError where there are not so many.
    void take(std::size_t bytes);
    void give_back(std::size_t bytes);

    std::shared_ptr<Line> add_line();
    void remove(const std::shared_ptr<Line>& line);
    /// Returns how many the line has been sent.
    std::uint64_t send(Line& line, Job job);
    bool is_done(const Line& line, std::uint64_t jobs);

  private:
    void work();
    bool finish_one(std::unique_lock<std::mutex>& lock);
    void start_all();
    bool is_busy(Unit unit) const;
    bool hangs() const;
    Clock::time_point next_end() const;

    StandInOptions options_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::mt19937 random_;
    std::vector<std::shared_ptr<Line>> lines_;
    std::array<Clock::time_point, 4> free_{};  // since when each unit is
    std::uint64_t calls_ = 0;
    std::size_t used_bytes_ = 0;
    bool ends_ = false;
    std::thread thread_;
};

}  // namespace tidemill

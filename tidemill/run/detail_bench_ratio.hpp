#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace tidemill::bench {

/// Time since it was made.
class Stopwatch {
  public:
    double ns() const {
        return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// What the calling thread has computed since it was made: neighbours on a shared machine do not count.
class CpuStopwatch {
  public:
    double ns() const { return now_ns() - start_ns_; }

  private:
    static double now_ns() {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
    }
    double start_ns_ = now_ns();
};

inline double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

inline double median(const std::vector<double>& values) {
    return quantile(values, 0.5);
}

/// A measured thing and its baseline, taken in turn so that a neighbour's noise meets both.
class Ratio {
  public:
    void add(double measured, double baseline) {
        measured_.push_back(measured);
        baseline_.push_back(baseline);
        ratios_.push_back(measured / baseline);
    }

    /// Counters: both medians, the median of ratios, and the quartiles' distance from the median in percent.
    void report(benchmark::State& state, const std::string& unit, const std::string& baseline_unit) const {
        const double middle = median(measured_);
        state.counters[unit] = middle;
        state.counters["least"] = quantile(measured_, 0);
        state.counters["spread_percent"] =
            50 * (quantile(measured_, 0.75) - quantile(measured_, 0.25)) / middle;
        state.counters[baseline_unit] = median(baseline_);
        state.counters["ratio"] = median(ratios_);
        state.counters["runs"] = static_cast<double>(measured_.size());
    }

  private:
    std::vector<double> measured_;
    std::vector<double> baseline_;
    std::vector<double> ratios_;
};

}  // namespace tidemill::bench

#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/base/quantile.hpp"

namespace tidemill::bench {

/// Question of a family of benchmarks: those whose names are `family`, a slash, and the case.
struct Question {
    std::string family;
    std::string text;            ///< one sentence
    std::string unit;            ///< of the counters `ours`, `baseline`, `published` and `target`
    std::string baseline = {};   ///< what the counter `baseline` is, measured in the same run
    std::string published = {};  ///< whose numbers `published` are
};

/// Writes the question into the results of the program, where `tidemill bench` finds it. True, so that it can
/// initialise a constant before the benchmarks run.
inline bool ask(const Question& question) {
    const auto tell = [&](const char* what, const std::string& text) {
        if (!text.empty()) benchmark::AddCustomContext(question.family + ": " + what, text);
    };
    tell("question", question.text);
    tell("unit", question.unit);
    tell("baseline", question.baseline);
    tell("published", question.published);
    return true;
}

/// The counter `ours` as a rate: `per_iteration` of the question's unit are done in one iteration.
inline void report_rate(benchmark::State& state, double per_iteration) {
    state.counters["ours"] = benchmark::Counter(per_iteration, benchmark::Counter::kIsIterationInvariantRate);
}

/// The same, of `total` in all iterations together.
inline void report_total(benchmark::State& state, double total) {
    state.counters["ours"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
}

/// Cycles a second of the core that runs this, by a chain of additions that take one each; measured once.
inline double core_hz() {
    static const double kHz = [] {
        constexpr long kAdditions = 20'000'000;
        long sum = 0;
        const auto start = std::chrono::steady_clock::now();
        for (long i = 0; i < kAdditions; i += 8) {
            asm volatile("" : "+r"(sum));
            for (int addition = 0; addition < 8; ++addition) {
                sum += i;
                asm volatile("" : "+r"(sum));
            }
        }
        return kAdditions / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }();
    return kHz;
}

/// Half the distance between the quartiles, in percent of the median.
inline double spread_percent(const std::vector<double>& values) {
    return 50 * (quantile(values, 0.75) - quantile(values, 0.25)) / median(values);
}

/// The counter `ours` of several runs, their median, with its spread, the least and the number of runs.
inline void report_runs(benchmark::State& state, const std::vector<double>& runs) {
    state.counters["ours"] = median(runs);
    state.counters["spread_percent"] = spread_percent(runs);
    state.counters["least"] = quantile(runs, 0);
    state.counters["runs"] = static_cast<double>(runs.size());
}

/// The counters `cycles` and `counted_limit`: how many one of the `per_iteration` things takes, and how many
/// it must, where that is known.
inline void report_cycles(benchmark::State& state, double per_iteration, double limit) {
    using benchmark::Counter;
    state.counters["cycles"] =
        Counter(per_iteration / core_hz(), Counter::kIsIterationInvariantRate | Counter::kInvert);
    if (limit > 0) state.counters["counted_limit"] = limit;
}

/// Time since it was made.
class Stopwatch {
  public:
    double ns() const {
        return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Processor time of the calling thread since it was made: neighbours on a shared machine do not count.
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

/// Processor time that `work` takes in this process: neighbours on a shared machine do not enter it.
inline double cpu_seconds(auto&& work) {
    const std::clock_t begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// A number to compare with that was not measured in this run; 0: none.
struct Levels {
    double published = 0;
    double target = 0;
};

/// A measured thing and its baseline, taken in turn so that a neighbour's noise meets both.
class Ratio {
  public:
    void add(double measured, double baseline) {
        measured_.push_back(measured);
        baseline_.push_back(baseline);
        ratios_.push_back(measured / baseline);
    }

    double measured() const { return median(measured_); }
    double baseline() const { return median(baseline_); }

    /// Counters: both medians, the median of ratios, half the distance between the quartiles in percent of
    /// the median, the least, the number of runs, and the levels that there are.
    void report(benchmark::State& state, const Levels& levels = {}) const {
        report_runs(state, measured_);
        state.counters["baseline"] = baseline();
        state.counters["ratio"] = median(ratios_);
        if (levels.published > 0) state.counters["published"] = levels.published;
        if (levels.target > 0) state.counters["target"] = levels.target;
    }

  private:
    std::vector<double> measured_;
    std::vector<double> baseline_;
    std::vector<double> ratios_;
};

/// For benchmarks that repeat their work themselves, in rounds of ours and the baseline.
inline void once(benchmark::internal::Benchmark* benchmark) {
    benchmark->Iterations(1)->Repetitions(1)->Unit(benchmark::kMillisecond);
}

}  // namespace tidemill::bench

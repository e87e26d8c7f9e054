#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace tidemill::bridge {

/// Makes the calls of one thread as long as they would be on a slower core, by the processor time that they
/// took: what the thread lost to others meanwhile is not multiplied.
class Stretch {
  public:
    enum class By : std::uint8_t {
        spinning,  ///< short waits spin, so that every call is stretched; long ones sleep
        sleeping,  ///< only whole grains of sleep, so that many threads share few cores
    };

    /// What is slept at once at least; with By::sleeping, calls in a row that are shorter are stretched
    /// together.
    static constexpr std::chrono::nanoseconds kGrain{200'000};
    /// From here on, waits sleep.
    static constexpr std::chrono::nanoseconds kLong{2'000'000};

    /// `ratios` are those of the calls, by their numbers; at least 1.
    Stretch(std::vector<double> ratios, By by) : ratios_(std::move(ratios)), by_(by) {}

    template <class Call>
    auto call(std::size_t number, Call call) {
        const double ratio = ratios_[number];
        if (ratio == 1) return call();
        const std::int64_t before = cpu_ns();
        const auto result = call();
        pass(static_cast<double>(cpu_ns() - before) * (ratio - 1));
        return result;
    }

  private:
    static std::int64_t cpu_ns();
    void pass(double ns);
    void spin();
    void sleep();

    std::vector<double> ratios_;
    By by_;
    double owed_ns_ = 0;  // below 0: it has waited too long
};

}  // namespace tidemill::bridge

#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace tidemill::bridge {

/// Makes the calls of one thread as long as they would be on a slower core. What the thread lost to others
/// meanwhile is not multiplied: calls are measured in its processor time, or, where a look at that would cost
/// as much as the call, by the clock, and then one that seems far too long counts as usual.
class Stretch {
  public:
    enum class By : std::uint8_t {
        spinning,  ///< short waits spin, so that every call is stretched; long ones sleep
        sleeping,  ///< only whole grains of sleep, so that many threads share few cores
    };

    /// Shortest sleep; with By::sleeping, calls in a row that are shorter are stretched together.
    static constexpr std::chrono::nanoseconds kGrain{200'000};
    /// From here on, waits sleep, but for their end.
    static constexpr std::chrono::nanoseconds kLong{500'000};
    /// Calls that usually take less are measured by the clock.
    static constexpr std::chrono::nanoseconds kShort{50'000};

    /// `ratios` are those of the calls, by their numbers; at least 1.
    Stretch(const std::vector<double>& ratios, By by);

    template <class Call>
    auto call(std::size_t number, Call call) {
        Stretched& stretched = calls_[number];
        if (stretched.ratio == 1) return call();
        const Begun begun = begin(stretched);
        const auto result = call();
        pass(taken_ns(begun, stretched) * (stretched.ratio - 1));
        return result;
    }

  private:
    struct Stretched {
        explicit Stretched(double its_ratio) : ratio(its_ratio) {}

        double ratio;
        double usual_ns = 0;  // 0: not known, or doubtful
    };
    struct Begun {
        std::uint64_t tick;
        std::int64_t cpu_ns;  // 0: not looked at
    };

    static std::int64_t cpu_ns();
    static Begun begin(const Stretched& stretched);
    double taken_ns(const Begun& begun, Stretched& stretched) const;
    void pass(double ns);
    void spin();
    void sleep(double ns);

    std::vector<Stretched> calls_;
    double ns_per_tick_;
    By by_;
    double owed_ns_ = 0;  // of what is slept, below 0: a timer was late
};

}  // namespace tidemill::bridge

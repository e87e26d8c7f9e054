#pragma once

#include <cstdint>

namespace tidemill {

/// A value that follows from both, and from their order.
constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = (a ^ b * 0x9e3779b97f4a7c15ull) + 0x632be59bd9b4e019ull;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
    return x ^ x >> 32;
}

/// How a task passes the time that it is to take.
enum class Pastime : std::uint8_t {
    none,     ///< not at all
    waiting,  ///< asleep, so that there may be more workers than cores
    computing,
};

/// Passes about `time_us`. Computing, returns what follows from `value` and the time; else `value` itself.
std::uint64_t pass_time(Pastime pastime, double time_us, std::uint64_t value);

/// How many microseconds this core, alone and undisturbed, takes to compute for "one": the least of some
/// tries, which take some 20 ms.
double computed_us();

/// While it lives, threads that the calling thread starts wake from sleep as exactly as the system can.
class ExactSleep {
  public:
    ExactSleep();
    ~ExactSleep();
    ExactSleep(const ExactSleep&) = delete;
    ExactSleep& operator=(const ExactSleep&) = delete;

  private:
    int before_;
};

}  // namespace tidemill

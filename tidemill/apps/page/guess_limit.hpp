#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tidemill::page {

/// How fast passwords may be guessed: after some wrong ones a source has to wait before it may try another,
/// each time twice as long. Any thread may ask.
class GuessLimit {
  public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr int kFree = 5;  ///< wrong ones before the first wait
    static constexpr std::chrono::seconds kLongestWait{60};
    static constexpr std::size_t kMostSources = 1024;

    /// Whether a source has to wait, whatever it brings.
    bool must_wait(const std::string& source, Time now);
    /// It brought a wrong one. True where that makes it wait for the first time: worth a line in a log.
    bool wrong(const std::string& source, Time now);
    /// It brought the right one.
    void right(const std::string& source);

  private:
    struct Guesses {
        int wrong = 0;
        Time last{};
        Time free_at{};
    };

    void make_room();

    std::mutex mutex_;
    std::map<std::string, Guesses> sources_{};
};

/// Owner of an address' guesses: the address itself, or of IPv6 the network that one customer has, 64 bits.
std::string source_of(const std::string& address);

}  // namespace tidemill::page

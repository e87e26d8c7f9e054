#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tidemill/io/live/live_clock.hpp"

namespace tidemill::io::internal {

/// Outcome of a made-up radio's read or write.
struct MadeOutcome {
    int status = 0;  ///< samples, or an error of SoapySDR's
    std::int64_t time_ns = -1;
    std::int64_t takes_ns = 0;  ///< by the test's clock
    std::int8_t value = 1;      ///< of all bytes that are read
};

/// A SoapySDR of the test's own, behind the functions by that name which the test program has.
struct MadeSoapy {
    std::string abi = "0.8";
    std::vector<std::string> labels{"Made up SN 1"};
    std::vector<std::string> modules{"/somewhere/libmade.so"};
    std::map<std::string, std::string> refusals{};  ///< by function: what it says
    std::string native = "CS8";
    std::vector<std::string> formats{"CS8", "CS16", "CF32"};
    double rate_given_hz = 0;  ///< 0: as asked
    bool corrects_frequency = true;
    std::vector<std::string> keys{"digital_agc", "biastee"};
    std::vector<std::string> said{};  ///< calls that change something, with their values
    std::deque<MadeOutcome> script{};
    std::function<void()> at_end = [] {};  ///< of the script
    std::function<void()> at_make = [] {}, at_unmake = [] {};
    std::vector<std::int8_t> sent{};
    int devices = 0, streams = 0;  ///< open now
    double rate_hz = 0;
    LiveClock* clock = nullptr;
};

/// The one that is there; a test begins with a new one.
MadeSoapy& made_soapy();

/// A clock that stands still until somebody waits.
class MadeClock final : public LiveClock {
  public:
    std::int64_t now_ns() const override { return now_ns_; }
    void wait_ns(std::int64_t ns) override { now_ns_ += ns; }

  private:
    std::int64_t now_ns_ = 1'000'000'000;
};

}  // namespace tidemill::io::internal

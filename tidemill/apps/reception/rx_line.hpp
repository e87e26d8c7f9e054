#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tidemill/apps/reception/rx_fields.hpp"

namespace tidemill::cli {

/// Hours, minutes and seconds: "00:14:07".
std::string clock_text(double seconds);

/// A reception at a moment, in one line, with the place in a recording or the time of a live input: "00:00:01
/// lock   QPSK 4/5 short   Es/N0 9.2 dB (4.5 over) +12.4 kHz   bad frames 0   continuity errors 0".
std::string state_line(const RxView& view);

/// Reception in one line: "00:14:07   239 MB   bad frames 0   continuity errors 2".
std::string last_line(const RxOutcome& outcome);

/// Line on a live input's ring, with where the last samples were lost, and how little room the ring had left:
/// "   overflows 1 (at 00:14:03, 8192 samples)   buffer 0.43 of 0.50 s free at least".
std::string ring_text(const RingState& ring);

/// How a player shows what is sent to a place; empty where it is sent to none.
std::string watch_hint(const std::string& place);

/// Reports when a lock comes and goes, also where both happened between two looks, and of trouble with the
/// input; a reception that does nothing else all day fills no disk.
class LockTeller {
  public:
    /// Lines are given to a function.
    explicit LockTeller(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}

    void look(const RxView& view);
    /// The last look: a recording may have been over before the first one.
    void end(const RxView& view);

  private:
    static constexpr int kMostPerMinute = 6;

    bool may_tell(double now_s);
    void take(const RxView& view);
    void tell(const RxView& view, const std::string& remark);

    std::function<void(const std::string&)> tell_;
    bool locked_ = false;
    bool stood_still_ = false;
    bool told_ = false;
    std::uint64_t locks_ = 0;  // as they were seen last: more of them between two looks were a blink
    std::string trouble_{};    // of the input, as it was seen last
    double minute_s_ = 0;      // when the one began in which lines are counted
    int lines_ = 0;
    int untold_ = 0;
};

}  // namespace tidemill::cli

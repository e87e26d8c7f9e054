#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::loopback {

/// Constants on which two programs have to agree.
struct AirConfig {
    std::string name = "default";
    double sample_rate_hz = 0;
    bool fast = false;        ///< the reader sets the pace, not the clock on the wall
    std::int64_t now_ns = 0;  ///< for the first user: time of its first sample
};

/// The samples of the last half second, and those of the next, in memory that the programs of one user share
/// and that is gone when the last of them leaves. Sample 0 is when the first of them came.
class SharedAir {
  public:
    /// Throws LoopbackError where another program has other ideas of the rate, or the memory cannot be had.
    explicit SharedAir(const AirConfig& config);
    SharedAir(const SharedAir&) = delete;
    SharedAir& operator=(const SharedAir&) = delete;
    ~SharedAir();

    std::int64_t epoch_ns() const;
    std::uint64_t capacity() const;

    /// Begins to send, alone; throws LoopbackError when another sender is there.
    void begin_to_send(double frequency_hz);
    void end_sending();
    double sent_frequency_hz() const;

    void write(std::uint64_t first, std::span<const dsp::Iq> samples);
    /// Samples that nobody has written, or that were overwritten, are silence.
    void read(std::uint64_t first, std::span<dsp::Iq> samples) const;

    // For the reader's pace.
    std::uint64_t written() const;
    std::uint64_t taken() const;
    void take(std::uint64_t until);

  private:
    struct Memory;
    class Mapping;

    std::unique_ptr<Mapping> mapping_;
};

}  // namespace tidemill::loopback

#pragma once

#include <atomic>
#include <cstdint>

#include "tidemill/io/sample_source.hpp"

namespace tidemill::cli {

/// Samples as they come from another source, counted; any thread may ask how many there were, and whether
/// more are waited for.
class CountedSource final : public io::SampleSource {
  public:
    explicit CountedSource(io::SampleSource& from) : from_(from) {}

    dsp::SampleFormat format() const override { return from_.format(); }
    std::optional<double> sample_rate_hz() const override { return from_.sample_rate_hz(); }
    std::size_t read(std::span<std::byte> to) override {
        waits_.store(true, std::memory_order_relaxed);
        const std::size_t got = from_.read(to);
        waits_.store(false, std::memory_order_relaxed);
        samples_.fetch_add(got / dsp::bytes_per_sample(format()), std::memory_order_relaxed);
        return got;
    }

    std::uint64_t samples() const { return samples_.load(std::memory_order_relaxed); }
    bool waits() const { return waits_.load(std::memory_order_relaxed); }

  private:
    io::SampleSource& from_;
    std::atomic<std::uint64_t> samples_{0};
    std::atomic<bool> waits_{false};
};

}  // namespace tidemill::cli

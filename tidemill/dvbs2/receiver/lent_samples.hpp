#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

/// Samples of a program that are received while it lends them: they go from its memory into the first
/// stage's, and what fills no whole block is kept until more come.
class LentSamples final : public io::SampleSource {
  public:
    LentSamples(dsp::SampleFormat format, std::optional<double> sample_rate_hz);

    dsp::SampleFormat format() const override { return format_; }
    std::optional<double> sample_rate_hz() const override { return sample_rate_hz_; }
    std::size_t read(std::span<std::byte> to) override;

    /// Behind what is kept; they stay where they are until take_back(). Whole samples.
    void lend(std::span<const std::byte> samples) { lent_ = samples; }
    /// Keeps a copy of what was not read.
    void take_back();
    /// Bytes that may be read.
    std::size_t waiting() const { return kept_.size() - read_ + lent_.size(); }
    /// Cancels the samples that wait; by any thread.
    void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
    bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  private:
    dsp::SampleFormat format_;
    std::optional<double> sample_rate_hz_;
    std::vector<std::byte> kept_{};
    std::size_t read_ = 0;  // of what is kept
    std::span<const std::byte> lent_{};
    std::atomic<bool> cancelled_{false};
};

}  // namespace tidemill::dvbs2

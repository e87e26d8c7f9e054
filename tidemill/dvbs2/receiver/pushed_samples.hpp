#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>

#include "tidemill/dvbs2/receiver/pushed_source.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/runtime/stream/hand_over.hpp"

namespace tidemill::dvbs2 {

/// Empty for 0, which is unknown. Throws Dvbs2Error for an invalid rate.
std::optional<double> known_rate(double rate_hz);

/// Throws Dvbs2Error for parts of samples.
void check_whole(std::size_t bytes, std::size_t sample_bytes);

/// Samples that wait, copied, until the receiver takes them.
class PushedSamples final : public PushedSource {
  public:
    explicit PushedSamples(const PushedConfig& config);

    dsp::SampleFormat format() const override { return format_; }
    std::optional<double> sample_rate_hz() const override { return sample_rate_hz_; }
    std::size_t read(std::span<std::byte> to) override;

    std::size_t push(std::span<const std::byte> samples, bool waits) override;
    void finish() override;
    void cancel() override { cancelled_.store(true, std::memory_order_relaxed); }
    void mark_finished() override { queue_.end_run(); }

  private:
    Token* next_chunk(bool waits);
    void hand_over();

    dsp::SampleFormat format_;
    std::optional<double> sample_rate_hz_;
    std::size_t sample_bytes_;
    std::size_t chunk_bytes_;
    tidemill::internal::HandOver queue_;  // this namespace has an internal of its own
    std::atomic<bool> cancelled_{false};
    bool finished_ = false;
    Token* filling_ = nullptr;
    std::size_t filled_ = 0;  // bytes
    Token* reading_ = nullptr;
    std::size_t read_ = 0;  // bytes
};

}  // namespace tidemill::dvbs2

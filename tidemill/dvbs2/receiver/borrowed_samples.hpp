#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>

#include "tidemill/dvbs2/receiver/pushed_source.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"

namespace tidemill::dvbs2 {

/// Samples that none wait in between: the caller of push() lends its memory until the receiver has read it,
/// so each is copied once, and a thread is woken once for all that are pushed at a time.
class BorrowedSamples final : public PushedSource {
  public:
    explicit BorrowedSamples(const PushedConfig& config);

    dsp::SampleFormat format() const override { return format_; }
    std::optional<double> sample_rate_hz() const override { return sample_rate_hz_; }
    std::size_t read(std::span<std::byte> to) override;

    /// Without waiting there is nothing that it could do: throws Dvbs2Error.
    std::size_t push(std::span<const std::byte> samples, bool waits) override;
    void finish() override { say(finished_); }
    void cancel() override { say(cancelled_); }
    void mark_finished() override { say(over_); }

  private:
    void say(bool& what);

    dsp::SampleFormat format_;
    std::optional<double> sample_rate_hz_;
    std::mutex mutex_;  // guards what follows
    std::condition_variable lent_more_;
    std::condition_variable given_back_;
    std::span<const std::byte> lent_{};
    bool finished_ = false;
    bool cancelled_ = false;
    bool over_ = false;
};

}  // namespace tidemill::dvbs2

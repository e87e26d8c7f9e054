#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2::internal {

/// A recording that begins anew when it ends, for benchmarks.
class EndlessSource final : public io::SampleSource {
  public:
    EndlessSource(std::vector<std::byte> bytes, dsp::SampleFormat format, double sample_rate_hz)
        : bytes_(std::move(bytes)), format_(format), rate_hz_(sample_rate_hz) {}

    dsp::SampleFormat format() const override { return format_; }
    std::optional<double> sample_rate_hz() const override { return rate_hz_; }
    std::size_t read(std::span<std::byte> to) override {
        const std::size_t count = std::min(to.size(), bytes_.size() - at_);
        std::memcpy(to.data(), bytes_.data() + at_, count);
        at_ = (at_ + count) % bytes_.size();
        return count;
    }

  private:
    std::vector<std::byte> bytes_;
    dsp::SampleFormat format_;
    double rate_hz_;
    std::size_t at_ = 0;
};

}  // namespace tidemill::dvbs2::internal

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2::internal {

/// A recording of ci16 in memory, so many times over.
class RepeatedSource final : public io::SampleSource {
  public:
    RepeatedSource(std::span<const std::byte> bytes, double sample_rate_hz, int times)
        : bytes_(bytes), sample_rate_hz_(sample_rate_hz), left_(times) {}

    dsp::SampleFormat format() const override { return dsp::SampleFormat::ci16; }
    std::optional<double> sample_rate_hz() const override { return sample_rate_hz_; }
    std::size_t read(std::span<std::byte> to) override {
        if (at_ == bytes_.size()) at_ = 0, --left_;
        if (left_ <= 0) return 0;
        const auto some = bytes_.subspan(at_, std::min(to.size(), bytes_.size() - at_));
        std::ranges::copy(some, to.begin());
        at_ += some.size();
        return some.size();
    }

  private:
    std::span<const std::byte> bytes_;
    double sample_rate_hz_;
    int left_;
    std::size_t at_ = 0;
};

}  // namespace tidemill::dvbs2::internal

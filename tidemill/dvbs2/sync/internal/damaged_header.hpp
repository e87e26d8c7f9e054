#pragma once

#include <array>
#include <span>

#include "tidemill/dvbs2/standard/pl_header.hpp"

namespace tidemill::dvbs2::internal {

/// Rest of a header at a known place that pulses have hit: the symbols that were zeroed with them count for
/// nothing, the others as much as they are.
class DamagedHeader {
  public:
    /// The symbols upright, the frequency in cycles per symbol.
    DamagedHeader(std::span<const Iq, kHeaderSymbols> symbols, double frequency);

    /// Code that fits best, of those that the standard defines,
    int best() const { return best_; }
    /// by this share of the energy that is left,
    float quality() const { return quality_; }
    /// and whether it is the only one that may be.
    bool is_clear() const;
    /// Whether a code may be the one that was sent.
    bool may_be(int code) const;

  private:
    static constexpr int kCodes = 128;

    std::array<float, kCodes> log_likelihood_{};  // but for what is common to all
    int best_ = 0;
    float quality_ = 0;
};

}  // namespace tidemill::dvbs2::internal

#pragma once

#include <array>
#include <span>

#include "tidemill/dvbs2/standard/pl_header.hpp"

namespace tidemill::dvbs2::internal {

/// What pulses have left of a header at a known place: the symbols that were zeroed with them tell nothing,
/// the others as much as they are.
class HeaderRemains {
  public:
    /// The symbols upright, the frequency in cycles per symbol.
    HeaderRemains(std::span<const Iq, kHeaderSymbols> symbols, double frequency);

    /// Of the codes that the standard defines the one that fits best,
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

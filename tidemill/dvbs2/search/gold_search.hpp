#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/sync/frame_sync.hpp"

namespace tidemill::dvbs2 {

/// Finds the gold code of the physical-layer scrambling from the pilots of some frames, by trying all of
/// them.
///
/// What it looks at is how each pilot symbol is turned against the next one, which depends on the code and
/// hardly on the carrier: frequency and phase need not be known.
class GoldSearch {
  public:
    /// Takes a frame as FrameSync::pop() writes it; one without pilots is of no use.
    void add(std::span<const dsp::Iq> frame, const FrameInfo& info);

    /// Pilot symbols taken so far.
    std::size_t pilots() const { return products_.size(); }

    /// The code; nothing when none stands out of what chance would give among so many.
    std::optional<int> best() const;

  private:
    struct Product {
        std::size_t place;  // of its first symbol, behind the header
        dsp::Iq value;      // the first times the conjugate of the second
    };
    std::vector<Product> products_;
};

}  // namespace tidemill::dvbs2

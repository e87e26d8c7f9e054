#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

/// Spectra that all branches of a band read: too much to be copied past each of them, so they stay where
/// they are, and a number goes round. As many are kept as are in flight at once. Any thread.
class SharedSpectra {
  public:
    using Spectra = dsp::AlignedVector<dsp::Iq>;

    /// How many readers each of them has; before the first.
    void set_readers(std::size_t readers) { readers_ = readers; }

    /// A place for new ones, empty.
    std::uint32_t begin();
    Spectra& at(std::uint32_t place);
    /// One reader is done with it; after the last the place is free.
    void done(std::uint32_t place);

  private:
    struct Place {
        Spectra spectra{};
        std::size_t readers_left = 0;
    };

    std::size_t readers_ = 1;
    std::mutex mutex_{};
    std::vector<std::unique_ptr<Place>> places_{};
};

}  // namespace tidemill::dvbs2

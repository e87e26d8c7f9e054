#include "tidemill/dvbs2/tuner/band_blocks.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/dvbs2/tuner/band_tuner.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr double kStretchSeconds = 0.005;
constexpr double kMostStretches = 5;

}  // namespace

std::size_t band_block_samples(double sample_rate_hz) {
    const auto stretch = static_cast<double>(BandSpectra::fresh(sample_rate_hz));
    const double stretches =
        std::clamp(std::round(kStretchSeconds * sample_rate_hz / stretch), 1.0, kMostStretches);
    return static_cast<std::size_t>(stretches * stretch);
}

std::size_t read_all(io::SampleSource& source, std::span<std::byte> to) {
    std::size_t bytes = 0;
    while (bytes < to.size()) {
        const std::size_t got = source.read(to.subspan(bytes));
        if (got == 0) break;
        bytes += got;
    }
    return bytes;
}

}  // namespace tidemill::dvbs2

#pragma once

#include <cstddef>
#include <vector>

namespace tidemill::dvbs2::internal {

/// A measured spectrum, frequencies in bins from the lowest on.
struct ObservedSpectrum {
    std::vector<double> power{};  ///< of each bin
    double stretches = 0;         ///< that it is the mean of
    double centre_hz = 0;
    double bin_hz = 0;
    double strongest = 0;  ///< of all bins, before any was patched

    std::ptrdiff_t size() const { return std::ssize(power); }
    double hz_of(double bin) const { return centre_hz + (bin - static_cast<double>(size()) / 2) * bin_hz; }
    double bin_of(double hz) const { return (hz - centre_hz) / bin_hz + static_cast<double>(size()) / 2; }
};

/// The radio's own offset (DC) is a line in the middle, which the window smears over some bins: those take
/// after their neighbours.
void patch_middle(std::vector<double>& power);

/// The same in which each bin is the mean of so many.
ObservedSpectrum coarser(const ObservedSpectrum& fine, std::size_t bins);

/// A carrier's shape laid over a spectrum.
struct ShapeFit {
    double likeness = 0;  ///< share of what the spectrum does there beyond chance that the shape explains
    double level = 0;     ///< of the carrier
    double floor = 0;     ///< of what it stands on
    double beyond_chance = 0;  ///< share of the level's power that no roughness could have made
};

/// The spectrum of one carrier: flat, with the edges of its roll-off half a symbol rate to either side.
struct CarrierShape {
    double bins = 0;  ///< of its symbol rate
    double rolloff = 0.20;

    /// In bins from the middle: the shape is compared up to there.
    double reach() const;
    /// The fit of the shape with its middle at `bin`, where most of it lies within the spectrum.
    ShapeFit fit(const ObservedSpectrum& spectrum, double bin) const;
    /// Whether a fit's level is out of reach of how rough the spectrum is there: what repeats frame by frame,
    /// as a stream of null packets does, has a spectrum of lines.
    bool stands_out(const ObservedSpectrum& spectrum, double bin, const ShapeFit& fit) const;
    /// The best middle within `reach` bins.
    double refined(const ObservedSpectrum& spectrum, double bin, double reach) const;
};

/// Sums over the bins under a shape: their number, and sums of power and shape, of their squares and
/// products.
struct ShapeSums {
    double n = 0, p = 0, t = 0, pp = 0, tt = 0, pt = 0;

    void add(double power, double shape) {
        n += 1, p += power, t += shape, pp += power * power, tt += shape * shape, pt += power * shape;
    }

    /// Nothing where too much lies beyond the recorded band, for nothing to stand on was seen there, and
    /// where no more was seen than chance makes.
    ShapeFit fit(double reach, double stretches) const;
};

}  // namespace tidemill::dvbs2::internal

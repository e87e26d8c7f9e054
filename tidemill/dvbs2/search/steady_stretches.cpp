#include "tidemill/dvbs2/search/steady_stretches.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tidemill/dsp/power_spectrum.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr std::size_t kStretchPieceSamples = 1 << 13;
constexpr std::size_t kMostPieces = 1 << 13;
// A piece's power is looked at bin by bin, in groups of bins, and as a whole: what is narrow shows in the
// first, what is weak and short in the others.
constexpr std::size_t kBins = 256, kChannelBins = 16, kChannels = kBins + kBins / kChannelBins + 1;
// Pieces to either side of a place whose means are compared.
constexpr std::size_t kMostCompared = 64;
// Deviations of chance, among 15 million comparisons, and how much must change: 0.8 dB is half of what the
// weakest carrier adds to the noise in its band.
constexpr double kLeastDeviations = 8, kLeastChange = 1.2;
// A share of the strongest bin: what the window's sides, filters and converters leave beside a signal comes
// and goes with its symbols.
constexpr double kFloor = 1e-5;
// Overlapping stretches under the window count for fewer that are independent.
constexpr double kIndependentShare = 0.55;

/// Power over time: for each channel the sums over all pieces before one.
class PowerHistory {
  public:
    void add(std::span<const dsp::Iq> samples) {
        dsp::PowerSpectrum spectrum = none_;
        spectrum.add(samples);
        const std::vector<float> power = spectrum.power();
        PieceSums next = sums_.back();
        float all = 0;
        strongest_ = std::max<double>(strongest_, std::ranges::max(power));
        for (std::size_t k = 0; k < kBins; ++k) {
            next[k] += power[k];
            next[kBins + k / kChannelBins] += power[k];
            all += power[k];
        }
        next.back() += all;
        sums_.push_back(next);
        averages_ = kIndependentShare * static_cast<double>(spectrum.stretches());
    }

    std::size_t pieces() const { return sums_.size() - 1; }

    /// Deviations by which the pieces before and from `place` on differ; 0 where the difference is small.
    double change(std::size_t place, std::size_t compared) const {
        double most = 0;
        for (std::size_t channel = 0; channel < kChannels; ++channel) {
            const double bins = channel < kBins ? 1 : channel + 1 < kChannels ? kChannelBins : kBins;
            const double floor = kFloor * strongest_ * static_cast<double>(compared) * bins + 1e-30;
            const double before = sums_[place][channel] - sums_[place - compared][channel] + floor;
            const double after = sums_[place + compared][channel] - sums_[place][channel] + floor;
            const double ratio = std::max(before, after) / std::min(before, after);
            if (ratio < kLeastChange) continue;
            const double averages = averages_ * static_cast<double>(compared) * bins;
            most = std::max(most, std::log(ratio) * std::sqrt(averages / 2));
        }
        return most;
    }

    /// Mean power of a bin between two places.
    double mean(std::size_t bin, std::size_t from, std::size_t to) const {
        return (sums_[to][bin] - sums_[from][bin]) / static_cast<double>(to - from);
    }

  private:
    using PieceSums = std::array<double, kChannels>;

    const dsp::PowerSpectrum none_{kBins};  // of nothing, to be copied
    std::vector<PieceSums> sums_{PieceSums{}};
    double averages_ = 0;
    double strongest_ = 0;  // bin of all pieces
};

// Appends the places where the change is larger than at any other within `compared` pieces, but not beside a
// place that is known.
void add_places(const PowerHistory& history, std::size_t compared, std::vector<std::size_t>& places) {
    std::vector<double> change(history.pieces() + 1);
    for (std::size_t k = compared; k + compared <= history.pieces(); ++k)
        change[k] = history.change(k, compared);
    const std::vector<std::size_t> known = places;
    for (std::size_t k = compared; k + compared <= history.pieces(); ++k) {
        if (change[k] <= kLeastDeviations) continue;
        const auto around = std::span(change).subspan(k - compared, 2 * compared + 1);
        const bool is_largest = std::ranges::max_element(around) - around.begin() == std::ssize(around) / 2;
        const bool is_known = *std::ranges::lower_bound(known, k - compared + 1) < k + compared;
        if (is_largest && !is_known) places.push_back(k);
    }
    std::ranges::sort(places);
}

// Short comparisons name a place exactly, long ones find weaker changes.
std::vector<std::size_t> change_places(const PowerHistory& history) {
    std::vector<std::size_t> places{0, history.pieces()};
    for (std::size_t compared = 1; compared <= kMostCompared && 2 * compared <= history.pieces();
         compared *= 2)
        add_places(history, compared, places);
    return places;
}

// Between two changes: how much more there is than where it is quietest, the logarithms of all bins added up.
std::vector<double> excesses(const PowerHistory& history, const std::vector<std::size_t>& places) {
    constexpr double kNothing = 1e-30;
    std::vector<double> excesses(places.size() - 1);
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        std::vector<double> power;
        for (std::size_t k = 0; k + 1 < places.size(); ++k)
            power.push_back(std::max(history.mean(bin, places[k], places[k + 1]), kNothing));
        const double quietest = std::ranges::min(power);
        for (std::size_t k = 0; k < power.size(); ++k) excesses[k] += std::log(power[k] / quietest);
    }
    return excesses;
}

// The history of the samples from `first` to `end`, by pieces whose first samples are `period` apart.
PowerHistory history_of(std::uint64_t first, std::uint64_t end, std::size_t piece_samples,
                        std::uint64_t period, const ReadAt& read) {
    PowerHistory history;
    std::vector<dsp::Iq> piece(piece_samples);
    for (; first + piece_samples <= end; first += period) {
        if (read(first, piece) < piece.size()) break;
        history.add(piece);
    }
    return history;
}

}  // namespace

std::vector<SampleStretch> steady_stretches(std::uint64_t samples, const ReadAt& read) {
    const std::uint64_t period = std::max<std::uint64_t>(kStretchPieceSamples, samples / kMostPieces);
    const PowerHistory history = history_of(0, samples, kStretchPieceSamples, period, read);
    const std::vector<std::size_t> places = change_places(history);
    if (places.size() <= 2) return {{0, samples}};
    const std::vector<double> excess = excesses(history, places);
    std::vector<std::size_t> order(excess.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t k) { return excess[k]; });
    std::vector<SampleStretch> stretches;
    for (const std::size_t k : order) {
        // A change lies within a piece of its place, and no frame may be cut.
        const std::uint64_t first = places[k] > 0 ? (places[k] - 1) * period : 0;
        const std::uint64_t last = k + 2 < places.size() ? (places[k + 1] + 1) * period : samples;
        stretches.push_back({first, std::min(last, samples) - first});
    }
    return stretches;
}

std::uint64_t place_of_change(const SampleStretch& stretch, const ReadAt& read) {
    if (stretch.first == 0) return 0;
    constexpr std::uint64_t kClosely = 1024, kCompared = 8, kMargin = 2;
    const std::uint64_t before = std::min(stretch.first, kCompared * kClosely);
    const std::uint64_t first = stretch.first - before;
    const std::uint64_t after =
        std::min<std::uint64_t>(stretch.count, 2 * kStretchPieceSamples + kCompared * kClosely);
    const PowerHistory history = history_of(first, stretch.first + after, kClosely, kClosely, read);
    std::size_t place = 0;
    double most = kLeastDeviations;
    for (std::size_t k = kCompared; k + kCompared <= history.pieces(); ++k) {
        const double change = history.change(k, kCompared);
        if (change > most) most = change, place = k;
    }
    return place == 0 ? stretch.first : std::max(stretch.first, first + (place - kMargin) * kClosely);
}

}  // namespace tidemill::dvbs2

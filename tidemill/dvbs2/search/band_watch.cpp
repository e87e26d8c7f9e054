#include "tidemill/dvbs2/search/band_watch.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tidemill::dvbs2 {

namespace {

constexpr std::size_t kGroup = 16;
// Means of so many pieces are compared with what is usual: groups of bins by few, single bins by many.
constexpr std::size_t kFew = 2, kMany = 16;
constexpr std::size_t kMemory = 64;
constexpr double kDeviations = 7;
// Independent values of a bin in a piece.
constexpr double kAverages = static_cast<double>(BandWatch::kPieceSamples) / BandWatch::kBins;

double sum_of(std::span<const double> values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
}

}  // namespace

void BandWatch::add(std::span<const dsp::Iq> piece) {
    dsp::PowerSpectrum spectrum = none_;
    // Stretches that overlap would tell little more, and take twice as long.
    for (std::size_t first = 0; first < piece.size(); first += kBins) {
        spectrum.add(piece.subspan(first, kBins));
        spectrum.restart();
    }
    const std::vector<float> power = spectrum.power();
    std::copy(power.begin(), power.end(), latest_.emplace_back().begin());
    if (latest_.size() > kMany) latest_.pop_front();
    pieces_ = std::min(pieces_ + 1, kMemory);
    const double weight = 1 / static_cast<double>(pieces_);
    for (std::size_t k = 0; k < kBins; ++k) usual_[k] += weight * (latest_.back()[k] - usual_[k]);
}

bool BandWatch::has_changed() const {
    return differs(kFew) || differs(kMany);
}

bool BandWatch::differs(std::size_t count) const {
    if (latest_.size() < count || pieces_ < 2 * count) return false;
    const std::size_t bins = count == kFew ? kGroup : 1;
    const double averages = kAverages * static_cast<double>(bins * count);
    const double least =
        kDeviations * std::sqrt(1 / averages + 1 / (kAverages * static_cast<double>(bins * pieces_)));
    for (std::size_t first = 0; first < kBins; first += bins) {
        double now = 0;
        for (std::size_t i = latest_.size() - count; i < latest_.size(); ++i)
            now += sum_of(std::span(latest_[i]).subspan(first, bins)) / static_cast<double>(count);
        const double usual = sum_of(std::span(usual_).subspan(first, bins));
        if (std::abs(std::log(std::max(now, 1e-30) / std::max(usual, 1e-30))) > least) return true;
    }
    return false;
}

void BandWatch::settle() {
    latest_.clear();
    usual_ = {};
    pieces_ = 0;
}

}  // namespace tidemill::dvbs2

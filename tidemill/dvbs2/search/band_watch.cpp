#include "tidemill/dvbs2/search/band_watch.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tidemill::dvbs2 {

namespace {

constexpr std::size_t kGroupBins = 16;
// Means of so many pieces are compared with what is usual: groups of bins by few, single bins by many.
constexpr std::size_t kFew = 2, kMany = 16;
constexpr std::size_t kMemory = 64;
constexpr double kUnusualDeviations = 7;
// Independent values of a bin in a piece.
constexpr double kAverages = static_cast<double>(BandWatch::kPieceSamples) / BandWatch::kBins;

}  // namespace

void BandWatch::add(std::span<const dsp::Iq> piece) {
    dsp::PowerSpectrum spectrum = none_;
    // Stretches that overlap would show little more, and take twice as long.
    for (std::size_t first = 0; first < piece.size(); first += kBins) {
        spectrum.add(piece.subspan(first, kBins));
        spectrum.restart();
    }
    const std::vector<float> power = spectrum.power();
    std::copy(power.begin(), power.end(), latest_.emplace_back().begin());
    for (std::size_t k = 0; k < kBins; ++k) many_[k] += latest_.back()[k];
    if (latest_.size() > kMany) {
        for (std::size_t k = 0; k < kBins; ++k) many_[k] -= latest_.front()[k];
        latest_.pop_front();
    }
    pieces_ = std::min(pieces_ + 1, kMemory);
    const double weight = 1 / static_cast<double>(pieces_);
    for (std::size_t k = 0; k < kBins; ++k) usual_[k] += weight * (latest_.back()[k] - usual_[k]);
}

bool BandWatch::has_changed() const {
    if (latest_.size() >= kFew && pieces_ >= 2 * kFew) {
        Power few{};
        for (std::size_t i = latest_.size() - kFew; i < latest_.size(); ++i)
            for (std::size_t k = 0; k < kBins; ++k) few[k] += latest_[i][k];
        if (differs(few, kFew, kGroupBins)) return true;
    }
    return latest_.size() == kMany && pieces_ >= 2 * kMany && differs(many_, kMany, 1);
}

// Sums of so many pieces, by groups of bins.
bool BandWatch::differs(const Power& sums, std::size_t count, std::size_t bins) const {
    const double independent = kAverages * static_cast<double>(bins);
    const double variance = (1 / static_cast<double>(count) + 1 / static_cast<double>(pieces_)) / independent;
    const double most = std::exp(kUnusualDeviations * std::sqrt(variance));
    for (std::size_t first = 0; first < kBins; first += bins) {
        double now = 0, usual = 0;
        for (std::size_t k = first; k < first + bins; ++k) now += sums[k], usual += usual_[k];
        now /= static_cast<double>(count);
        if (now > most * usual || usual > most * now) return true;
    }
    return false;
}

void BandWatch::settle() {
    latest_.clear();
    many_ = usual_ = {};
    pieces_ = 0;
}

void BandWatch::settle(const Power& usual) {
    settle();
    usual_ = usual;
    pieces_ = kMany;
}

}  // namespace tidemill::dvbs2

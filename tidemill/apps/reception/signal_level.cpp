#include "tidemill/apps/reception/signal_level.hpp"

#include <algorithm>
#include <complex>

namespace tidemill::cli {

void SignalLevel::take(std::span<const dsp::Iq> samples) {
    for (const dsp::Iq& sample : samples) {
        sum_ += std::norm(sample);
        if (++count_ == kStretchSamples) end_stretch();
    }
}

void SignalLevel::end_stretch() {
    powers_.push_back(sum_ / static_cast<double>(count_));
    sum_ = 0;
    count_ = 0;
}

// Each round takes in what the one before has shown to belong to the signal, so the level only falls.
double SignalLevel::power() const {
    if (powers_.empty()) return count_ > 0 ? sum_ / static_cast<double>(count_) : 0;
    std::vector<double> powers = powers_;
    std::ranges::sort(powers, std::ranges::greater());
    std::size_t taken = powers.size() / 50 + 1;
    double sum = 0;
    for (std::size_t i = 0; i < taken; ++i) {
        sum += powers[i];
        const double mean = sum / static_cast<double>(i + 1);
        if (i + 1 == taken && taken < powers.size() && powers[taken] >= mean / 2) ++taken;
    }
    return sum / static_cast<double>(taken);
}

}  // namespace tidemill::cli

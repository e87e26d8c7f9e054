#include "tidemill/dvbs2/sync/phase_smoother.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace tidemill::dvbs2 {

namespace {

// Degrees in 1000 symbols: 0, 1, 2.5, 5 and 10, and more where the last one of these is the likeliest.
constexpr double walk_of(double degrees) {
    return degrees * degrees * (3.0462e-4 / 1000);
}
constexpr std::array<double, 7> kWalks{0,           walk_of(1),  walk_of(2.5), walk_of(5),
                                       walk_of(10), walk_of(20), walk_of(40)};
constexpr std::size_t kUsualWalks = 5;

}  // namespace

double PhaseSmoother::filter(std::span<const PhaseSample> samples, double walk) {
    mean_.resize(samples.size());
    variance_.resize(samples.size());
    mean_[0] = samples[0].phase;
    variance_[0] = samples[0].variance;
    double log_likelihood = 0;
    for (std::size_t i = 1; i < samples.size(); ++i) {
        const double predicted = variance_[i - 1] + walk * (samples[i].place - samples[i - 1].place);
        const double innovation = samples[i].phase - mean_[i - 1];
        const double spread = predicted + samples[i].variance;
        log_likelihood -= std::log(spread) + innovation * innovation / spread;
        const double gain = predicted / spread;
        mean_[i] = mean_[i - 1] + gain * innovation;
        variance_[i] = predicted * (1 - gain);
    }
    return log_likelihood;
}

void PhaseSmoother::smooth(std::span<PhaseSample> samples) {
    if (samples.size() < 2) {
        return;
    }
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < kWalks.size(); ++i) {
        if (i >= kUsualWalks && walk_ != kWalks[i - 1]) break;
        const double likelihood = filter(samples, kWalks[i]);
        if (likelihood > best) {
            best = likelihood;
            walk_ = kWalks[i];
        }
    }
    filter(samples, walk_);
    samples.back().phase = mean_.back();
    for (std::size_t i = samples.size() - 1; i-- > 0;) {
        const double predicted = variance_[i] + walk_ * (samples[i + 1].place - samples[i].place);
        samples[i].phase = mean_[i] + variance_[i] / predicted * (samples[i + 1].phase - mean_[i]);
    }
}

}  // namespace tidemill::dvbs2

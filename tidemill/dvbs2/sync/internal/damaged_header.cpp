#include "tidemill/dvbs2/sync/internal/damaged_header.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace tidemill::dvbs2::internal {

namespace {

constexpr float kLeastLeft = 16;      // symbols: fewer may look like any code
constexpr float kSure = 12;           // log-likelihood: a code that is behind by more was not sent
constexpr float kLeastNoise = 1e-3F;  // of the power

}  // namespace

// With a phase that is unknown and an Es/N0 as the best code shows it, the log-likelihood of a code grows
// with the magnitude of the symbols' sum behind it, by twice the ratio of amplitude and noise.
DamagedHeader::DamagedHeader(std::span<const Iq, kHeaderSymbols> symbols, double frequency) {
    std::array<Iq, kHeaderSymbols> straight;
    float energy = 0, left = 0;
    for (std::size_t i = 0; i < kHeaderSymbols; ++i) {
        straight[i] =
            symbols[i] * Iq(std::polar(1.0, -2 * std::numbers::pi * frequency * static_cast<double>(i)));
        energy += std::norm(symbols[i]);
        left += symbols[i] == Iq{} ? 0 : 1;
    }
    if (left < kLeastLeft || !std::isfinite(energy)) return;
    for (int code = 0; code < kCodes; ++code) {
        float& magnitude = log_likelihood_[static_cast<std::size_t>(code)];
        if (!Pls::from_code(code).is_defined()) {
            magnitude = -std::numeric_limits<float>::infinity();
            continue;
        }
        const auto references = header_references(code);
        Iq sum{};
        for (std::size_t i = 0; i < kHeaderSymbols; ++i) sum += straight[i] * references[i];
        magnitude = std::abs(sum);
    }
    best_ = static_cast<int>(std::ranges::max_element(log_likelihood_) - log_likelihood_.begin());
    const float amplitude = log_likelihood_[static_cast<std::size_t>(best_)] / left;
    quality_ = left * amplitude * amplitude / energy;
    const float noise = energy / left * std::max(1 - quality_, kLeastNoise);
    for (float& value : log_likelihood_) value *= 2 * amplitude / noise;
}

bool DamagedHeader::may_be(int code) const {
    return log_likelihood_[static_cast<std::size_t>(code)] >
           log_likelihood_[static_cast<std::size_t>(best_)] - kSure;
}

bool DamagedHeader::is_clear() const {
    for (int code = 0; code < kCodes; ++code)
        if (code != best_ && may_be(code)) return false;
    return true;
}

}  // namespace tidemill::dvbs2::internal

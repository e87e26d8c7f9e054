#include "tidemill/dvbs2/receiver/constellation_tap.hpp"

#include <utility>

namespace tidemill::dvbs2 {

std::vector<dsp::Iq> ConstellationTap::symbols() const {
    std::vector<dsp::Iq> all;
    for (const auto& [frame, symbols] : kept_) all.insert(all.end(), symbols.begin(), symbols.end());
    return all;
}

void ConstellationTap::keep(std::uint64_t frame, std::vector<dsp::Iq> symbols) {
    const std::lock_guard lock(mutex_);
    kept_[frame] = std::move(symbols);
}

}  // namespace tidemill::dvbs2

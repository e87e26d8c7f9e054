#include "tidemill/dvbs2/receiver/reception_report.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/machine/tick_clock.hpp"

namespace tidemill::dvbs2 {

double FrameTotals::esn0_db() const {
    return frames_good() == 0 ? 0 : -10 * std::log10(noise_to_signal / static_cast<double>(frames_good()));
}

double FrameTotals::info_mbps() const {
    const double us = to_ns(last_tick - first_tick) / 1000;
    return us > 0 ? static_cast<double>(info_bits - first_bits) / us : 0;
}

std::optional<Pls> FrameTotals::usual_pls() const {
    if (frames_good() == 0) return std::nullopt;
    const auto most = std::max_element(frames_of_pls.begin(), frames_of_pls.end());
    return Pls::from_code(static_cast<int>(most - frames_of_pls.begin()));
}

std::uint64_t FrameTotals::lock_frames() const {
    const std::optional<Pls> pls = usual_pls();
    return pls ? symbols_before / static_cast<std::uint64_t>(layout_of(*pls).symbols) : 0;
}

}  // namespace tidemill::dvbs2

#include "tidemill/dvbs2/channel/multipath.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "tidemill/dvbs2/channel/internal/interpolation.hpp"

namespace tidemill::dvbs2 {

Multipath::Multipath(std::span<const Echo> echoes, double samples_per_symbol) {
    paths_.push_back({internal::delayed(0, 1), 1.0F, {}});
    for (const Echo& echo : echoes) {
        const std::complex<double> gain = std::polar(std::pow(10.0, echo.gain_db / 20), echo.phase_rad);
        paths_.push_back({internal::delayed(echo.delay_symbols * samples_per_symbol, 1), dsp::Iq(gain), {}});
    }
}

void Multipath::process(std::span<const dsp::Iq> in, std::vector<dsp::Iq>& out) {
    std::size_t complete = std::numeric_limits<std::size_t>::max();
    for (Path& path : paths_) {
        path.delay.process(in, path.arrived);
        complete = std::min(complete, path.arrived.size());
    }
    add_up(complete, out);
}

void Multipath::finish(std::vector<dsp::Iq>& out) {
    std::size_t last = 0;
    for (Path& path : paths_) {
        path.delay.finish(path.arrived);
        last = std::max(last, path.arrived.size());
    }
    for (Path& path : paths_) path.arrived.resize(last);
    add_up(last, out);
}

void Multipath::add_up(std::size_t count, std::vector<dsp::Iq>& out) {
    const std::size_t first = out.size();
    out.resize(first + count);
    for (Path& path : paths_) {
        for (std::size_t n = 0; n < count; ++n) out[first + n] += path.gain * path.arrived[n];
        path.arrived.erase(path.arrived.begin(), path.arrived.begin() + static_cast<std::ptrdiff_t>(count));
    }
}

}  // namespace tidemill::dvbs2

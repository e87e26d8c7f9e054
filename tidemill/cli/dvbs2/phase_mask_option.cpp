#include "tidemill/cli/dvbs2/phase_mask_option.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/files/number_text.hpp"

namespace tidemill::cli {

std::vector<dvbs2::PhaseMaskPoint> phase_mask_of(const std::string& text, double symbol_rate_hz) {
    std::vector<dvbs2::PhaseMaskPoint> mask;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');) {
        const std::size_t colon = std::min(part.find(':'), part.size());
        const auto hz = io::real_number(part.substr(0, colon));
        const auto dbc = io::real_number(part.substr(std::min(colon + 1, part.size())));
        if (!hz || !dbc)
            throw WrongUsage(
                fmt::format("--phase-mask {}: give HZ:DBC,HZ:DBC,..., as 1e3:-50,1e4:-73", text));
        mask.push_back({*hz / symbol_rate_hz, *dbc + 10 * std::log10(symbol_rate_hz)});
    }
    return mask;
}

}  // namespace tidemill::cli

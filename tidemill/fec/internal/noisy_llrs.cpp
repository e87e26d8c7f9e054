#include "tidemill/fec/internal/noisy_llrs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tidemill/fec/bit_packing.hpp"
#include "tidemill/fec/ldpc_encoder.hpp"
#include "tidemill/fec/ldpc_settings.hpp"

namespace tidemill::fec {

std::vector<Llr> noisy_llrs(const Dvbs2Code& code, double esn0_db, std::mt19937& random) {
    std::vector<std::uint8_t> information(static_cast<std::size_t>(code.k_ldpc / 8)),
        fecframe(static_cast<std::size_t>(code.n / 8)), bits(static_cast<std::size_t>(code.n));
    std::ranges::generate(information, [&] { return static_cast<std::uint8_t>(random()); });
    LdpcEncoder(code).encode(information, fecframe);
    unpack_bits(fecframe, bits);
    const double variance = std::pow(10.0, -esn0_db / 10);
    std::normal_distribution<double> noise(0, std::sqrt(variance));
    std::vector<Llr> llrs;
    for (const std::uint8_t bit : bits) {
        const double llr = std::round(llr_scale(code) * 2 * ((bit ? -1 : 1) + noise(random)) / variance);
        llrs.push_back(static_cast<Llr>(std::clamp(llr, -127.0, 127.0)));
    }
    return llrs;
}

}  // namespace tidemill::fec

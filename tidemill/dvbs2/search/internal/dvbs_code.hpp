#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tidemill::dvbs2::internal {

/// A rate of the inner code of DVB-S (EN 300 421, 4.4.3): which of the bits X and Y that belong to each bit
/// of information are sent, over and over, X before Y.
struct DvbsRate {
    std::string_view name;
    std::string_view x, y;  ///< '1': sent

    std::size_t information_bits() const { return x.size(); }
    std::size_t sent_bits() const;
    /// After so many symbols of two bits the pattern begins with a symbol again.
    std::size_t symbols() const;
};

inline constexpr std::array<DvbsRate, 5> kDvbsRates = {{{"1/2", "1", "1"},
                                                        {"2/3", "10", "11"},
                                                        {"3/4", "101", "110"},
                                                        {"5/6", "10101", "11010"},
                                                        {"7/8", "1000101", "1111010"}}};

/// Generators of X and Y, the newest bit first.
inline constexpr unsigned kDvbsX = 0171, kDvbsY = 0133;

/// The likeliest bits of information behind soft bits that were sent from the beginning of a pattern on,
/// positive for 0; all of them, the last few unsure.
std::vector<std::uint8_t> decode_dvbs_code(const DvbsRate& rate, std::span<const float> soft_bits);

}  // namespace tidemill::dvbs2::internal

#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"

namespace tidemill::fec {

/// The bits of every parity check, check by check in the order of the layers: those of check i are
/// bits[first[i]] to bits[first[i + 1] - 1], information before parity.
struct LdpcGraph {
    explicit LdpcGraph(const Dvbs2Code& code);

    std::size_t checks() const { return first.size() - 1; }

    std::vector<std::uint32_t> bits;
    std::vector<std::size_t> first{0};
};

}  // namespace tidemill::fec

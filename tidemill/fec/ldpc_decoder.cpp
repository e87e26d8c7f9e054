#include "tidemill/fec/ldpc_decoder.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/fec/detail_ldpc_kernel.hpp"
#include "tidemill/fec/detail_ldpc_schedule.hpp"

namespace tidemill::fec {
namespace {

constexpr std::size_t kLanes = kCirculantSize;

LdpcSettings checked(const LdpcSettings& settings) {
    if (settings.max_iterations < 1) {
        throw std::invalid_argument(
            fmt::format("LdpcDecoder: max_iterations is {}, it must be at least 1", settings.max_iterations));
    }
    return settings;
}

// Eight signs to one byte: 0x80 of byte i ends up as bit 7 - i of the product's top byte.
std::uint8_t packed_signs(const std::int8_t* values) {
    std::uint64_t word;
    std::memcpy(&word, values, sizeof word);
    return static_cast<std::uint8_t>(((word >> 7 & 0x0101010101010101) * 0x8040201008040201) >> 56);
}

}  // namespace

LdpcDecoder::LdpcDecoder(const Dvbs2Code& code) : LdpcDecoder(code, LdpcSettings{}) {}

LdpcDecoder::LdpcDecoder(const Dvbs2Code& code, const LdpcSettings& settings)
    : code_(code),
      settings_(checked(settings)),
      schedule_(std::make_shared<LdpcSchedule>(code)),
      memory_(std::make_unique<LdpcMemory>()) {
    memory_->posteriors.resize(schedule_->columns);
    memory_->messages.resize(schedule_->edges.size());
    memory_->scratch.resize(2 * schedule_->most_edges);
}

LdpcDecoder::LdpcDecoder(const LdpcDecoder& other)
    : code_(other.code_),
      settings_(other.settings_),
      schedule_(other.schedule_),
      memory_(std::make_unique<LdpcMemory>(*other.memory_)) {}

LdpcDecoder& LdpcDecoder::operator=(const LdpcDecoder& other) {
    return *this = LdpcDecoder(other);
}
LdpcDecoder::LdpcDecoder(LdpcDecoder&&) noexcept = default;
LdpcDecoder& LdpcDecoder::operator=(LdpcDecoder&&) noexcept = default;
LdpcDecoder::~LdpcDecoder() = default;

void LdpcDecoder::load(std::span<const Llr> llrs) {
    const auto information_columns = static_cast<std::size_t>(code_.k_ldpc) / kLanes;
    const auto q = static_cast<std::size_t>(code_.q());
    for (std::size_t column = 0; column < information_columns; ++column) {
        std::ranges::copy(llrs.subspan(column * kLanes, kLanes), memory_->posteriors[column].values.begin());
    }
    for (std::size_t layer = 0; layer < q; ++layer) {
        std::int8_t* column = memory_->posteriors[information_columns + layer].values.data();
        const Llr* parity = llrs.data() + code_.k_ldpc + layer;
        for (std::size_t lane = 0; lane < kLanes; ++lane) column[lane] = parity[q * lane];
    }
    for (LdpcMemory::Column& column : memory_->posteriors) {
        std::copy_n(column.values.begin(), kColumnStride - kLanes, column.values.begin() + kLanes);
    }
    for (auto& lanes : memory_->messages) lanes.values.fill(0);
}

void LdpcDecoder::decide(std::span<std::uint8_t> information) const {
    constexpr std::size_t kBytes = kLanes / 8;
    for (std::size_t byte = 0; byte < information.size(); ++byte) {
        const std::int8_t* column = memory_->posteriors[byte / kBytes].values.data();
        information[byte] = packed_signs(column + 8 * (byte % kBytes));
    }
}

LdpcResult LdpcDecoder::decode(std::span<const Llr> llrs, std::span<std::uint8_t> information) {
    assert(llrs.size() == static_cast<std::size_t>(code_.n));
    assert(information.size() == static_cast<std::size_t>(code_.k_ldpc / 8));
    load(llrs);
    const LdpcProgress progress =
        ldpc_sweep(*schedule_, settings_.max_iterations, settings_.stop_early, *memory_);
    decide(information);
    return {progress.sweeps, progress.converged};
}

}  // namespace tidemill::fec

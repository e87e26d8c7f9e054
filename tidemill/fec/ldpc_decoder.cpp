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
    memory_->extrinsics.resize(schedule_->most_edges);
    memory_->changes.resize(schedule_->most_shared_edges);
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
    const Llr* parity = llrs.data() + code_.k_ldpc;
    const std::vector<std::uint16_t>& bit0 = schedule_->bit0_after.back();
    for (std::size_t column = 0; column < memory_->posteriors.size(); ++column) {
        std::array<Llr, kLanes> bits;
        if (column < information_columns) {
            std::ranges::copy(llrs.subspan(column * kLanes, kLanes), bits.begin());
        } else {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                bits[lane] = parity[column - information_columns + q * lane];
            }
        }
        // Bit 0 lies at its offset, and every bit twice, 360 bytes apart, as far as the column goes.
        std::int8_t* stored = memory_->posteriors[column].values.data();
        const std::size_t before = bit0[column];
        std::copy(bits.end() - static_cast<std::ptrdiff_t>(before), bits.end(), stored);
        std::ranges::copy(bits, stored + before);
        std::copy(bits.begin(), bits.end() - static_cast<std::ptrdiff_t>(before), stored + before + kLanes);
        std::copy_n(stored, kColumnStride - 2 * kLanes, stored + 2 * kLanes);
    }
    for (auto& lanes : memory_->messages) lanes.values.fill(0);
}

void LdpcDecoder::decide(int last_layer, std::span<std::uint8_t> information) const {
    const std::vector<std::uint16_t>& bit0 = schedule_->bit0_after[static_cast<std::size_t>(last_layer)];
    constexpr std::size_t kBytes = kLanes / 8;
    for (std::size_t byte = 0; byte < information.size(); ++byte) {
        const std::size_t column = byte / kBytes;
        const std::int8_t* bits = memory_->posteriors[column].values.data() + bit0[column];
        information[byte] = packed_signs(bits + 8 * (byte % kBytes));
    }
}

LdpcResult LdpcDecoder::decode(std::span<const Llr> llrs, std::span<std::uint8_t> information) {
    assert(llrs.size() == static_cast<std::size_t>(code_.n));
    assert(information.size() == static_cast<std::size_t>(code_.k_ldpc / 8));
    load(llrs);
    const LdpcProgress progress =
        ldpc_sweep(*schedule_, settings_.max_iterations, settings_.stop_early, *memory_);
    decide(progress.last_layer, information);
    return {progress.sweeps, progress.converged};
}

}  // namespace tidemill::fec

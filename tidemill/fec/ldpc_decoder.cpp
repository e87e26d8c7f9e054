#include "tidemill/fec/ldpc_decoder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/fec/detail_ldpc_kernel.hpp"
#include "tidemill/fec/detail_ldpc_schedule.hpp"

namespace tidemill::fec {
namespace {

constexpr std::size_t kLanes = kCirculantSize;

LdpcSettings completed(LdpcSettings settings, const Dvbs2Code& code) {
    if (settings.max_iterations < 1) {
        throw std::invalid_argument(
            fmt::format("LdpcDecoder: max_iterations is {}, it must be at least 1", settings.max_iterations));
    }
    if (settings.attempts.empty()) settings.attempts = ldpc_attempts(code);
    return settings;
}

static_assert(std::endian::native == std::endian::little, "bytes are taken eight at a time, lowest first");

// One step of a transposition: swaps the off-diagonal quarters of every square of 2 kRows by 2 kRows bytes.
template <int kRows>
void swap_parts(std::array<std::uint64_t, 8>& rows, std::uint64_t mask) {
    for (std::size_t i = 0; i < 8; ++i) {
        if (i & kRows) continue;
        const std::uint64_t difference = (rows[i] >> 8 * kRows ^ rows[i + kRows]) & mask;
        rows[i + kRows] ^= difference;
        rows[i] ^= difference << 8 * kRows;
    }
}

// Eight rows of eight bytes, q apart, become the lanes from `lane` on of eight columns.
void transpose_bytes(const Llr* rows_begin, std::size_t q, LdpcMemory::Column* columns, std::size_t lane) {
    std::array<std::uint64_t, 8> rows;
    for (std::size_t i = 0; i < 8; ++i) std::memcpy(&rows[i], rows_begin + i * q, 8);
    swap_parts<4>(rows, 0x00000000FFFFFFFF);
    swap_parts<2>(rows, 0x0000FFFF0000FFFF);
    swap_parts<1>(rows, 0x00FF00FF00FF00FF);
    for (std::size_t i = 0; i < 8; ++i) std::memcpy(&columns[i].values[lane], &rows[i], 8);
}

// Parity bit i + q t goes to lane t of column i.
void load_parity(const Llr* parity, std::size_t q, LdpcMemory::Column* columns) {
    constexpr std::size_t kBlock = 8;
    if (q < kBlock) {
        for (std::size_t column = 0; column < q; ++column) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                columns[column].values[lane] = parity[column + q * lane];
            }
        }
        return;
    }
    for (std::size_t block = 0; block < q; block += kBlock) {
        const std::size_t first = std::min(block, q - kBlock);  // the last block may overlap the one before
        for (std::size_t lane = 0; lane < kLanes; lane += kBlock) {
            transpose_bytes(parity + lane * q + first, q, columns + first, lane);
        }
    }
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
      settings_(completed(settings, code)),
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
      memory_(std::make_unique<LdpcMemory>(*other.memory_)),
      scaled_(other.scaled_) {}

LdpcDecoder& LdpcDecoder::operator=(const LdpcDecoder& other) {
    return *this = LdpcDecoder(other);
}
LdpcDecoder::LdpcDecoder(LdpcDecoder&&) noexcept = default;
LdpcDecoder& LdpcDecoder::operator=(LdpcDecoder&&) noexcept = default;
LdpcDecoder::~LdpcDecoder() = default;

std::span<const Llr> LdpcDecoder::scaled(std::span<const Llr> llrs, double factor) {
    if (factor == 1) return llrs;
    scaled_.resize(llrs.size());
    std::ranges::transform(llrs, scaled_.begin(), [&](Llr llr) {
        return static_cast<Llr>(std::clamp(std::round(llr * factor), -127.0, 127.0));
    });
    return scaled_;
}

void LdpcDecoder::load(std::span<const Llr> llrs) {
    const auto information_columns = static_cast<std::size_t>(code_.k_ldpc) / kLanes;
    for (std::size_t column = 0; column < information_columns; ++column) {
        std::ranges::copy(llrs.subspan(column * kLanes, kLanes), memory_->posteriors[column].values.begin());
    }
    load_parity(llrs.data() + code_.k_ldpc, static_cast<std::size_t>(code_.q()),
                &memory_->posteriors[information_columns]);
    for (LdpcMemory::Column& column : memory_->posteriors) {
        std::copy_n(column.values.begin(), kColumnStride - kLanes, column.values.begin() + kLanes);
    }
    for (auto& lanes : memory_->messages) lanes.values.fill(0);
}

void LdpcDecoder::decide(std::span<std::uint8_t> information) const {
    constexpr std::size_t kBytes = kLanes / 8;
    for (std::size_t column = 0; column < information.size() / kBytes; ++column) {
        const std::int8_t* bits = memory_->posteriors[column].values.data();
        std::uint8_t* bytes = information.data() + column * kBytes;
        for (std::size_t byte = 0; byte < kBytes; ++byte) bytes[byte] = packed_signs(bits + 8 * byte);
    }
}

LdpcResult LdpcDecoder::decode(std::span<const Llr> llrs, std::span<std::uint8_t> information) {
    assert(llrs.size() == static_cast<std::size_t>(code_.n));
    assert(information.size() == static_cast<std::size_t>(code_.k_ldpc / 8));
    LdpcResult result{0, false};
    for (const LdpcAttempt& attempt : settings_.attempts) {
        const int left = settings_.max_iterations - result.iterations;
        const bool is_last = &attempt == &settings_.attempts.back() || !settings_.stop_early;
        load(scaled(llrs, attempt.llr_factor));
        const LdpcProgress progress = ldpc_sweep(
            *schedule_, is_last ? left : std::min(left, attempt.iterations), settings_.stop_early, *memory_);
        result = {result.iterations + progress.sweeps, progress.converged};
        if (result.converged || result.iterations == settings_.max_iterations) break;
    }
    decide(information);
    return result;
}

}  // namespace tidemill::fec

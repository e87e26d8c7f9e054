#include "tidemill/fec/ldpc_decoder.hpp"

#include <algorithm>
#include <cassert>

#include "tidemill/fec/internal/ldpc_kernel.hpp"
#include "tidemill/fec/internal/ldpc_schedule.hpp"
#include "tidemill/fec/internal/ldpc_transfer.hpp"

namespace tidemill::fec {
LdpcDecoder::LdpcDecoder(const Dvbs2Code& code) : LdpcDecoder(code, LdpcSettings{}) {}

LdpcDecoder::LdpcDecoder(const Dvbs2Code& code, const LdpcSettings& settings)
    : code_(code),
      settings_(settings),
      fast_iterations_(ldpc_fast_share(settings, code)),
      schedule_(std::make_shared<LdpcSchedule>(code)),
      memory_(std::make_unique<LdpcMemory>()),
      halved_(static_cast<std::size_t>(code.n)) {
    memory_->posteriors.resize(schedule_->turns.size());
    memory_->messages.resize(schedule_->edges.size());
    memory_->changes.resize(std::max(schedule_->most_shared_edges, 1U));
}

LdpcDecoder::LdpcDecoder(const LdpcDecoder& other)
    : code_(other.code_),
      settings_(other.settings_),
      fast_iterations_(other.fast_iterations_),
      schedule_(other.schedule_),
      memory_(std::make_unique<LdpcMemory>(*other.memory_)),
      halved_(other.halved_.size()) {}

LdpcDecoder& LdpcDecoder::operator=(const LdpcDecoder& other) {
    return *this = LdpcDecoder(other);
}
LdpcDecoder::LdpcDecoder(LdpcDecoder&&) noexcept = default;
LdpcDecoder& LdpcDecoder::operator=(LdpcDecoder&&) noexcept = default;
LdpcDecoder::~LdpcDecoder() = default;

std::span<const Llr> LdpcDecoder::in_range(std::span<const Llr> llrs) {
    const int halvings = ldpc_halvings(code_, llrs);
    memory_->halvings = static_cast<std::size_t>(halvings);
    if (halvings == 0) return llrs;
    halve_llrs(llrs, halvings, halved_);
    return halved_;
}

void LdpcDecoder::load(std::span<const Llr> llrs) {
    const auto information_columns = static_cast<std::size_t>(code_.k_ldpc) / kCirculantSize;
    for (std::size_t column = 0; column < information_columns; ++column) {
        std::ranges::rotate_copy(
            llrs.subspan(column * kCirculantSize, kCirculantSize),
            llrs.begin() + static_cast<std::ptrdiff_t>(column * kCirculantSize + schedule_->turns[column]),
            memory_->posteriors[column].values.begin());
    }
    load_parity(llrs, std::span(memory_->posteriors).subspan(information_columns));
    for (LdpcMemory::Column& column : memory_->posteriors) {
        std::copy_n(column.values.begin(), kColumnStride - kCirculantSize,
                    column.values.begin() + kCirculantSize);
    }
}

void LdpcDecoder::decide(std::span<std::uint8_t> information) const {
    const std::size_t columns = 8 * information.size() / kCirculantSize;
    pack_signs(std::span(memory_->posteriors).first(columns), schedule_->turns, information);
}

// Keeps decisions that fail fewer checks than any before; returns whether they are a codeword.
bool LdpcDecoder::keep_if_better(std::span<std::uint8_t> information, std::size_t& fewest_failed) {
    const std::size_t failed = ldpc_failed_checks(*schedule_, fewest_failed, *memory_);
    if (failed < fewest_failed) {
        fewest_failed = failed;
        decide(information);
    }
    return failed == 0;
}

LdpcResult LdpcDecoder::decode(std::span<const Llr> llrs, std::span<std::uint8_t> information,
                               int most_iterations) {
    assert(llrs.size() == static_cast<std::size_t>(code_.n));
    assert(information.size() == static_cast<std::size_t>(code_.k_ldpc / 8));
    std::size_t fewest_failed = kLdpcNearlyRight;
    load(in_range(llrs));
    int iterations = 0;
    for (int since = 0; iterations < most_iterations && since < kLdpcPatience; ++iterations) {
        const std::size_t before = fewest_failed;
        if (settings_.stop_early && keep_if_better(information, fewest_failed)) return {iterations, true};
        const bool is_fast = iterations < fast_iterations_;
        const bool is_stuck = !is_fast && fewest_failed < kLdpcNearlyRight && fewest_failed == before;
        since = is_stuck ? since + 1 : 0;
        ldpc_sweep(*schedule_,
                   iterations == 0 ? LdpcSweep::first
                   : is_fast       ? LdpcSweep::fast
                                   : LdpcSweep::fine,
                   *memory_);
    }
    if (keep_if_better(information, fewest_failed)) return {iterations, true};
    if (fewest_failed == kLdpcNearlyRight) decide(information);
    return {iterations, false};
}

}  // namespace tidemill::fec

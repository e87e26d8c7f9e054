#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/ldpc_result.hpp"
#include "tidemill/fec/ldpc_settings.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::fec {

struct LdpcMemory;
struct LdpcSchedule;

/// The inner code's decoder, layered, on 8-bit messages: min-sum first, then sum-product in whole steps of an
/// LLR; owns its scratch, so each thread needs a copy.
class LdpcDecoder {
  public:
    /// With the recommended settings of the code.
    explicit LdpcDecoder(const Dvbs2Code& code);
    /// Throws FecError when a setting is out of its range.
    LdpcDecoder(const Dvbs2Code& code, const LdpcSettings& settings);
    LdpcDecoder(const LdpcDecoder& other);
    LdpcDecoder& operator=(const LdpcDecoder& other);
    LdpcDecoder(LdpcDecoder&&) noexcept;
    LdpcDecoder& operator=(LdpcDecoder&&) noexcept;
    ~LdpcDecoder();

    /// Decodes n LLRs, in the order of the FECFRAME's bits, to the packed k_ldpc information bits. Without a
    /// codeword they are those that came nearest to one, before it was led astray.
    LdpcResult decode(std::span<const Llr> llrs, std::span<std::uint8_t> information) {
        return decode(llrs, information, settings_.max_iterations);
    }
    /// The same, but min-sum alone is tried: a small part of the time of a frame that this does not bring
    /// back.
    LdpcResult decode_fast(std::span<const Llr> llrs, std::span<std::uint8_t> information) {
        return decode(llrs, information, fast_iterations_);
    }

  private:
    LdpcResult decode(std::span<const Llr> llrs, std::span<std::uint8_t> information, int most_iterations);
    std::span<const Llr> in_range(std::span<const Llr> llrs);
    void load(std::span<const Llr> llrs);
    bool keep_if_better(std::span<std::uint8_t> information, std::size_t& fewest_failed);
    void decide(std::span<std::uint8_t> information) const;

    Dvbs2Code code_;
    LdpcSettings settings_;
    int fast_iterations_;
    std::shared_ptr<const LdpcSchedule> schedule_;
    std::unique_ptr<LdpcMemory> memory_;
    std::vector<Llr> halved_;
};

}  // namespace tidemill::fec

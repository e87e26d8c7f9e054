#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::fec {

struct LdpcGraph;

/// Decodes many frames of one code at once, each in a lane of the vectors, as most software decoders do: no
/// frame is there before all are, and the memory of all is in use. Here to compare LdpcDecoder with.
class LdpcBatchDecoder {
  public:
    static constexpr std::size_t kFrames = 64;

    explicit LdpcBatchDecoder(const Dvbs2Code& code);

    /// Decodes kFrames frames of n LLRs, one behind the other, to as many times k_ldpc packed information
    /// bits; with `stop_early` not longer than until all are codewords. Returns the sweeps made.
    int decode(std::span<const Llr> llrs, int iterations, bool stop_early,
               std::span<std::uint8_t> information);

    /// What it works in, without the frames themselves.
    std::size_t memory_bytes() const;

  private:
    struct alignas(64) Lanes {
        std::array<std::int8_t, kFrames> values;
    };

    void load(std::span<const Llr> llrs);
    void decide(std::span<std::uint8_t> information) const;

    Dvbs2Code code_;
    std::shared_ptr<const LdpcGraph> graph_;
    std::vector<Lanes> posteriors_;  // of each bit
    std::vector<Lanes> messages_;    // of each edge, from check to bit
};

}  // namespace tidemill::fec

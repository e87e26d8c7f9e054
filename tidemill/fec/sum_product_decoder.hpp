#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/ldpc_circulants.hpp"
#include "tidemill/fec/ldpc_result.hpp"

namespace tidemill::fec {

/// The inner code's decoder in floating point, layered, by the exact sum-product rule (Gallager 1963,
/// section 4.3): what LdpcDecoder is judged by, some fifty times slower. Instruction sets round otherwise.
/// Owns its scratch.
class SumProductDecoder {
  public:
    explicit SumProductDecoder(const Dvbs2Code& code, int max_iterations = 50);

    /// Decodes n log-likelihood ratios (natural log of P(0)/P(1)), in the order of the FECFRAME's bits, to
    /// the packed k_ldpc information bits; stops at a codeword.
    LdpcResult decode(std::span<const float> llrs, std::span<std::uint8_t> information);

  private:
    struct Layer {
        std::vector<Circulant> edges;
        std::size_t own_edges;  // the first ones, whose column belongs to no other edge of the layer
    };

    void load(std::span<const float> llrs);
    void process(const Layer& layer, float* messages);
    void ask(const Layer& layer, const float* messages);
    bool is_codeword() const;
    void decide(std::span<std::uint8_t> information) const;
    std::size_t column_begin(const Circulant& edge) const {
        return edge.column * std::size_t{kCirculantSize};
    }
    bool is_first(const Layer& layer) const { return &layer == layers_.data(); }
    // Lane of the first layer's last own edge that checks a bit that does not exist.
    std::size_t open_lane() const { return (layers_.front().own_edges - 1) * std::size_t{kCirculantSize}; }

    Dvbs2Code code_;
    int max_iterations_;
    std::vector<Layer> layers_;
    std::vector<float> posteriors_;  // of 360 bits a block column
    std::vector<float> messages_;    // of 360 lanes an edge, from check to bit
    std::vector<float> extrinsics_;  // of one layer, from bit to check
    std::vector<float> answers_;     // to these
    std::vector<float> forward_;     // error probability of the edges before each
};

}  // namespace tidemill::fec

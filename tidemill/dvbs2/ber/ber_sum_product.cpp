#include "tidemill/dvbs2/ber/ber_sum_product.hpp"

#include <cassert>
#include <cmath>

#include "tidemill/dvbs2/standard/constellation.hpp"

namespace tidemill::dvbs2 {

namespace {

// By bit of the label, the first one leading: the log of how likely 0 is over how likely 1 is.
std::array<double, 5> exact_llrs(dsp::Iq symbol, std::span<const dsp::Iq> points, int bits,
                                 const SignalQuality& quality) {
    std::array<double, 5> zeros{}, ones{};
    for (std::size_t label = 0; label < points.size(); ++label) {
        // Beside the symbol's own energy, which all points share, so that nothing underflows.
        const double distance = std::norm(symbol - quality.amplitude * points[label]) - std::norm(symbol);
        const double likelihood = std::exp(-distance / static_cast<double>(quality.noise_variance));
        for (int bit = 0; bit < bits; ++bit)
            ((label >> (bits - 1 - bit) & 1U) != 0 ? ones : zeros)[static_cast<std::size_t>(bit)] +=
                likelihood;
    }
    std::array<double, 5> llrs{};
    for (std::size_t bit = 0; bit < static_cast<std::size_t>(bits); ++bit)
        llrs[bit] = std::log(zeros[bit] / ones[bit]);
    return llrs;
}

}  // namespace

void demap_exactly(std::span<const dsp::Iq> data, const Modcod& modcod, const SignalQuality& quality,
                   std::span<float> llrs) {
    const int bits = bits_per_symbol(modcod.modulation);
    assert(llrs.size() == data.size() * static_cast<std::size_t>(bits));
    const auto points = constellation_of(modcod);
    const bool is_qpsk = modcod.modulation == Modulation::qpsk;
    for (std::size_t symbol = 0; symbol < data.size(); ++symbol) {
        const std::array<double, 5> exact = exact_llrs(data[symbol], points, bits, quality);
        for (std::size_t bit = 0; bit < static_cast<std::size_t>(bits); ++bit) {
            const std::size_t at =
                is_qpsk
                    ? 2 * symbol + bit
                    : static_cast<std::size_t>(interleaver_of(modcod).read_order[bit]) * data.size() + symbol;
            llrs[at] = static_cast<float>(exact[bit]);
        }
    }
}

void BerSumProduct::decode_frame(Frame f) {
    const Pls& pls = f[info].pls;
    const fec::Dvbs2Code& code = *code_of(pls);
    if (!decoder_) decoder_.emplace(code);
    llrs_.resize(static_cast<std::size_t>(code.n));
    demap_exactly(f[data].first(static_cast<std::size_t>(layout_of(pls).data_symbols)),
                  *find_modcod(pls.modcod), f[quality][0], llrs_);
    f[result][0] = decoder_->decode(llrs_, f[codeword].first(static_cast<std::size_t>(code.k_ldpc) / 8));
}

}  // namespace tidemill::dvbs2

#include "tidemill/dvbs2/receiver/rx_decode.hpp"

#include "tidemill/fec/bb_scrambler.hpp"

namespace tidemill::dvbs2 {

namespace {

std::size_t index_of(const fec::Dvbs2Code& code) {
    return static_cast<std::size_t>(&code - fec::dvbs2_codes().data());
}

}  // namespace

const fec::Dvbs2Code* code_of(const Pls& pls) {
    if (pls.is_dummy() || !pls.is_defined()) return nullptr;
    return &fec::dvbs2_code(pls.size, find_modcod(pls.modcod)->rate);
}

void RxLdpc::decode_frame(Frame f) {
    f[result][0] = {0, false};
    const fec::Dvbs2Code* code = code_of(f[info][0].pls);
    if (!code) return;
    std::optional<fec::LdpcDecoder>& decoder = decoders_[index_of(*code)];
    if (!decoder) decoder.emplace(*code, settings_);
    f[result][0] = decoder->decode(f[llrs].first(static_cast<std::size_t>(code->n)),
                                   f[codeword].first(static_cast<std::size_t>(code->k_ldpc) / 8));
}

RxBch::RxBch() : Module("bch") {
    for (const fec::Dvbs2Code& code : fec::dvbs2_codes()) decoders_.emplace_back(code);
}

void RxBch::decode_frame(Frame f) const {
    f[result][0] = {false, 0};
    const fec::Dvbs2Code* code = code_of(f[info][0].pls);
    if (!code) return;
    f[result][0] =
        decoders_[index_of(*code)].decode(f[codeword].first(static_cast<std::size_t>(code->k_ldpc) / 8));
}

void RxDescrambler::descramble_frame(Frame f) const {
    const fec::Dvbs2Code* code = code_of(f[info][0].pls);
    if (code) fec::bb_scramble(f[codeword].first(static_cast<std::size_t>(code->k_bch) / 8));
}

}  // namespace tidemill::dvbs2

#include "tidemill/dvbs2/receiver/rx_demapper.hpp"

#include "tidemill/fec/ldpc_settings.hpp"

namespace tidemill::dvbs2 {

void RxDemapper::demap_frame(Frame f) const {
    const Pls& pls = f[info].pls;
    const fec::Dvbs2Code* code = code_of(pls);
    if (!code) return;
    const auto symbols = static_cast<std::size_t>(layout_of(pls).data_symbols);
    dvbs2::demap(f[data].first(symbols), *find_modcod(pls.modcod), f[quality][0],
                 static_cast<float>(fec::llr_scale(*code)), f[llrs].first(static_cast<std::size_t>(code->n)));
}

}  // namespace tidemill::dvbs2

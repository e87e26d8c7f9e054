#include "tidemill/dvbs2/receiver/symbol_tap.hpp"

#include <utility>

#include "tidemill/dvbs2/receiver/rx_carrier.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

ThreadObserver& SymbolTap::watch(const ObservedThread&) {
    return threads_.emplace_back(*this);
}

void SymbolTap::Thread::called(const ObservedCall& call) {
    if (call.frame.number() >= tap_.frames_ || call.flow != Flow::ok) return;
    const auto* const carrier = dynamic_cast<const RxCarrier*>(&call.module);
    if (!carrier) return;
    const auto count = static_cast<std::size_t>(layout_of(call.frame[carrier->info].pls).data_symbols);
    const auto data = call.frame[carrier->data].first(count);
    const float amplitude = call.frame[carrier->quality][0].amplitude;
    std::vector<dsp::Iq> symbols(data.begin(), data.end());
    for (dsp::Iq& symbol : symbols) symbol /= amplitude;
    tap_.tell_(call.frame.number(), std::move(symbols));
}

}  // namespace tidemill::dvbs2

#include "tidemill/dvbs2/carrier/header_bias.hpp"

#include <algorithm>

#include "tidemill/dvbs2/standard/pl_header.hpp"
#include "tidemill/dvbs2/sync/frequency_estimator.hpp"

namespace tidemill::dvbs2 {

// Bias of a header without noise. The data beside it differ from frame to frame.
double header_bias(const ChannelEstimate& channel, const Pls& pls) {
    const std::span<const dsp::Iq> references = header_references(pls.code());
    std::array<dsp::Iq, kHeaderSymbols> received{};
    for (std::size_t tap = 0; tap < kChannelTaps; ++tap) {
        const dsp::Iq gain(channel.response[tap]);
        const std::size_t first = tap < kChannelBehind ? kChannelBehind - tap : 0;
        const std::size_t last = std::min<std::size_t>(kHeaderSymbols + kChannelBehind - tap, kHeaderSymbols);
        for (std::size_t n = first; n < last; ++n)
            received[n] += gain * std::conj(references[n + tap - kChannelBehind]);
    }
    FrequencyEstimator estimator;
    estimator.add(received, references);
    return estimator.offset();
}

}  // namespace tidemill::dvbs2

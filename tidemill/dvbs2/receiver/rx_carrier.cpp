#include "tidemill/dvbs2/receiver/rx_carrier.hpp"

#include "tidemill/dvbs2/receiver/rx_equaliser.hpp"

namespace tidemill::dvbs2 {

RxCarrier::RxCarrier(const PlScrambler& scrambler)
    : Module("carrier"), carrier_(scrambler), known_(kMaxKnownSymbols) {}

void RxCarrier::remove_carrier(Frame f) {
    const FrameInfo& about = f[info];
    const EqualiserTaps& by = f[taps][0];
    const std::span<const Iq> received =
        by.on != 0 ? equaliser_.apply(f[frame], about, by) : std::span<const Iq>(f[frame]);
    FrameInfo upright = about;
    upright.frequency = carrier_frequency(about, by);
    carrier_.estimate(received, upright, track_);
    const Carrier::Counts counts = carrier_.remove(received, about, track_, f[data], known_);
    const auto symbols = f[data].first(counts.data);
    const auto known = std::span(known_).first(counts.known);
    level_.flatten(about.pls, symbols, known);
    f[quality][0] = quality_of_frame(about.pls, symbols, known);
}

}  // namespace tidemill::dvbs2

#include "tidemill/dvbs2/receiver/rx_carrier.hpp"

namespace tidemill::dvbs2 {

RxCarrier::RxCarrier(const PlScrambler& scrambler)
    : Module("carrier"), carrier_(scrambler), known_(kMaxKnownSymbols) {}

void RxCarrier::remove_carrier(Frame f) {
    const FrameInfo& about = f[info];
    carrier_.estimate(f[frame], about, track_);
    const Carrier::Counts counts = carrier_.remove(f[frame], about, track_, f[data], known_);
    f[quality][0] =
        quality_of_frame(about.pls, f[data].first(counts.data), std::span(known_).first(counts.known));
}

}  // namespace tidemill::dvbs2

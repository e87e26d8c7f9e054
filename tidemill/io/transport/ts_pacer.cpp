#include "tidemill/io/transport/ts_pacer.hpp"

#include <utility>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {

TsPacer::TsPacer(std::optional<double> rate_bps) : rate_bps_(rate_bps) {
    if (rate_bps && !(*rate_bps > 0)) throw IoError("a rate of packets must be above 0 bit/s");
}

void TsPacer::push(std::span<const std::uint8_t> packets, double from_s, double lasts_s,
                   std::vector<TimedDatagram>& out) {
    const auto all = static_cast<double>(packets.size());
    for (std::size_t at = 0; at + kTsPacketBytes <= packets.size(); at += kTsPacketBytes) {
        const double by_signal_s = from_s + lasts_s * static_cast<double>(at) / all;
        const double at_s = rate_bps_ ? 8 * static_cast<double>(bytes_) / *rate_bps_ : by_signal_s;
        put(packets.subspan(at, kTsPacketBytes), at_s, out);
        bytes_ += kTsPacketBytes;
    }
}

void TsPacer::put(std::span<const std::uint8_t> packet, double at_s, std::vector<TimedDatagram>& out) {
    const double waited_s = at_s - waiting_.due_s;
    if (!(waited_s >= 0 && waited_s <= kMostTogether_s)) finish(out);
    if (waiting_.bytes.empty()) waiting_.due_s = at_s;
    waiting_.bytes.insert(waiting_.bytes.end(), packet.begin(), packet.end());
    if (waiting_.bytes.size() == kDatagramBytes) finish(out);
}

void TsPacer::finish(std::vector<TimedDatagram>& out) {
    if (waiting_.bytes.empty()) return;
    out.push_back(std::move(waiting_));
    waiting_.bytes.clear();
}

}  // namespace tidemill::io

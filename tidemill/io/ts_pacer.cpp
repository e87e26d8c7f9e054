#include "tidemill/io/ts_pacer.hpp"

#include <algorithm>
#include <stdexcept>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/ts_monitor.hpp"

namespace tidemill::io {
namespace {

constexpr double kClockHz = 27e6;  // ISO/IEC 13818-1, 2.4.2.1
constexpr std::uint64_t kClockRange = (std::uint64_t{1} << 33) * 300;
constexpr double kMostGap_s = 1.0;  // references come every 0.1 s; beyond, the clock has jumped
constexpr std::size_t kMostWaitingBytes = 4 << 20;  // without a reference

}  // namespace

TsPacer::TsPacer(std::optional<double> rate_bps) : rate_bps_(rate_bps) {
    if (rate_bps && !(*rate_bps > 0)) throw IoError("a rate of packets must be above 0 bit/s");
}

void TsPacer::push(std::span<const std::uint8_t> packets, std::vector<TimedDatagram>& out) {
    for (; packets.size() >= kTsPacketBytes; packets = packets.subspan(kTsPacketBytes)) {
        const auto packet = packets.first(kTsPacketBytes);
        waiting_.insert(waiting_.end(), packet.begin(), packet.end());
        const auto pcr = rate_bps_ ? std::nullopt : pcr_of(packet);
        if (pcr && clock_pid_.value_or(pid_of(packet)) == pid_of(packet)) {
            clock_pid_ = pid_of(packet);
            meet_clock(*pcr, out);
        }
        if (rate_bps_ && waiting_.size() == kDatagramBytes) {
            emit(now_s_, now_s_ + 8 * static_cast<double>(kDatagramBytes) / *rate_bps_, out);
        }
        if (waiting_.size() >= kMostWaitingBytes) {
            emit(now_s_, now_s_, out);
            clock_pid_.reset();  // this clock has stopped
            last_pcr_.reset();
        }
    }
}

void TsPacer::meet_clock(std::uint64_t pcr, std::vector<TimedDatagram>& out) {
    const std::uint64_t ticks = (pcr + kClockRange - last_pcr_.value_or(pcr)) % kClockRange;
    const double gap_s = static_cast<double>(ticks) / kClockHz;
    last_pcr_ = pcr;
    emit(now_s_, now_s_ + (gap_s <= kMostGap_s ? gap_s : 0), out);
}

// Gives out what waits, spread evenly over a time that begins with the first datagram.
void TsPacer::emit(double begin_s, double end_s, std::vector<TimedDatagram>& out) {
    const std::span<const std::uint8_t> all(waiting_);
    for (std::size_t at = 0; at < all.size(); at += kDatagramBytes) {
        const auto part = all.subspan(at, std::min(kDatagramBytes, all.size() - at));
        const double share = static_cast<double>(at) / static_cast<double>(all.size());
        out.push_back({{part.begin(), part.end()}, begin_s + share * (end_s - begin_s)});
    }
    waiting_.clear();
    now_s_ = end_s;
}

void TsPacer::finish(std::vector<TimedDatagram>& out) {
    emit(now_s_, now_s_, out);
}

}  // namespace tidemill::io

#include "tidemill/apps/reception/rx_line.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/apps/reception/rx_outcome.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/io/network/udp_sender.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::cli {

namespace {

constexpr const char* kBetween = "   ";

std::string offset_text(double hz) {
    if (std::abs(hz) >= 1e6) return fmt::format("{:+.3f} MHz", hz / 1e6);
    return std::abs(hz) >= 1e3 ? fmt::format("{:+.1f} kHz", hz / 1e3)
                               : fmt::format("{:+.0f} Hz", std::round(hz) + 0.0);
}

std::string bytes_text(double bytes) {
    if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes / 1e9);
    return bytes >= 1e6 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.0f} kB", bytes / 1e3);
}

// "239 MB", or "239 MB, 12 MB of it written".
std::string packets_text(const RxOutcome& outcome) {
    const std::uint64_t bytes = outcome.ts.packets * io::kTsPacketBytes;
    const std::string text = bytes_text(static_cast<double>(bytes));
    const std::uint64_t lost = std::min(outcome.packet_bytes_lost, bytes);
    return lost == 0
               ? text
               : fmt::format("{}, {} of it written", text, bytes_text(static_cast<double>(bytes - lost)));
}

// Amount that was received: "239 MB, 14 kB of generic streams".
std::string received_text(const RxOutcome& outcome) {
    std::vector<std::string> parts;
    if (outcome.ts.packets > 0) parts.push_back(packets_text(outcome));
    if (const auto bytes = outcome.report.generic_bytes; bytes > 0)
        parts.push_back(bytes_text(static_cast<double>(bytes)) + " of generic streams");
    const auto add_count = [&](const char* name, const char* what) {
        const Json* const found = outcome.ip.find(name);
        const auto* const count = found ? found->get_if<std::uint64_t>() : nullptr;
        if (count && *count > 0) parts.push_back(fmt::format("{} {}", *count, what));
    };
    add_count("packets", "IP packets");
    add_count("ethernet", "Ethernet frames in GSE, not given out");
    add_count("ule", "packets in ULE, not given out");
    return parts.empty() ? packets_text(outcome) : fmt::format("{}", fmt::join(parts, ", "));
}

// Nothing where the number is the input's own.
std::string measure_text(GapMeasure by) {
    if (by == GapMeasure::input) return {};
    return fmt::format(" by {}{}", by == GapMeasure::frames_and_clock ? "" : "the ", name(by));
}

// "overflows 3 (the last at 00:14:03, 8192 samples by the clock on the wall)".
std::string overflows_text(const RingState& ring) {
    if (ring.gaps == 0) return {};
    std::string text = fmt::format("{}overflows {}", kBetween, ring.gaps);
    if (ring.latest_gaps.empty()) return text;
    const ObservedGap& last = ring.latest_gaps.back();
    return text + fmt::format(" ({}at {}, {} samples{})", ring.gaps > 1 ? "the last " : "",
                              clock_text(last.at_s), last.samples, measure_text(last.by));
}

std::string losses_text(std::uint64_t frames_bad, std::uint64_t continuity_errors) {
    return fmt::format("{0}bad frames {1}{0}continuity errors {2}", kBetween, frames_bad, continuity_errors);
}

// A lock is one once a frame was decoded, and while something comes. What other signals have of headers is by
// far weaker than any frame that could be received.
bool is_told(const RxView& view) {
    constexpr double kLeastEsn0_db = -10;
    return view.now.locked && view.pls && view.esn0_db > kLeastEsn0_db && !view.stands_still();
}

std::string signal_text(const RxView& view) {
    const dvbs2::Modcod& modcod = *dvbs2::find_modcod(view.pls->modcod);
    return fmt::format("{0}{1} {2}{0}Es/N0 {3:.1f} dB ({4:.1f} over){0}{5}", kBetween, modcod_name(modcod),
                       name(view.pls->size), view.esn0_db, view.esn0_db - modcod.esn0_threshold_db,
                       offset_text(view.now.frequency_hz));
}

}  // namespace

std::string clock_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::max(0.0, seconds));
    return fmt::format("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string state_line(const RxView& view) {
    const char* const state = view.stands_still() ? "no samples"
                              : is_told(view)     ? "lock"
                              : view.now.found    ? "signal, no lock yet"
                              : view.pls          ? "lost"
                                                  : "no signal";
    std::string line = fmt::format("{0}{1}{2}{3}{4}", clock_text(view.frame_s), kBetween, state,
                                   is_told(view) ? signal_text(view) : "",
                                   losses_text(view.now.totals.frames_bad, view.ts.continuity_errors));
    if (view.ring && !view.ring->trouble.empty()) line += kBetween + view.ring->trouble;
    return line;
}

std::string ring_text(const RingState& ring) {
    if (!ring.loses) return overflows_text(ring);
    return fmt::format("{}{}buffer {:.2f} of {:.2f} s free at least", overflows_text(ring), kBetween,
                       ring.least_room_s, ring.holds_s);
}

std::string last_line(const RxOutcome& outcome) {
    const double time_s = outcome.outputs.live ? outcome.lasted_s : outcome.signal_s();
    std::string line =
        fmt::format("{}{}{}{}", clock_text(time_s), kBetween, received_text(outcome),
                    losses_text(outcome.report.totals.frames_bad, outcome.ts.continuity_errors));
    if (outcome.interrupted && !outcome.ended_as_asked) line += kBetween + std::string("interrupted");
    if (outcome.missing_samples > 0)
        line += fmt::format("{}{} samples missing", kBetween, outcome.missing_samples);
    if (const auto ring = seen_by(outcome.job.stream.get(), outcome.report.totals.missing))
        line += ring_text(*ring);
    return line + "\n";
}

std::string watch_hint(const std::string& place) {
    if (io::is_network_url("rtp", place))
        return fmt::format("watch      ffplay {}\n",
                           io::network_url("rtp", io::parse_datagram_url("rtp", place)));
    if (io::is_network_url("tcp-listen", place))
        return fmt::format("watch      ffplay {}\n",
                           io::network_url("tcp", io::parse_network_url("tcp-listen", place)));
    if (!io::is_udp_url(place)) return {};
    const io::NetworkAddress to = io::parse_udp_url(place);
    return fmt::format("watch      ffplay {}   (or VLC: udp://@:{})\n", io::network_url("udp", to), to.port);
}

void LockTeller::look(const RxView& view) {
    const std::string trouble = view.ring ? view.ring->trouble : "";
    const bool is_new = !trouble.empty() && trouble != trouble_;
    trouble_ = trouble;
    stood_still_ = view.stands_still();
    const bool blinked = locked_ && is_told(view) && view.now.locks > locks_;
    if (is_told(view) == locked_ && !blinked && !is_new) return;
    if (!may_tell(view.frame_s)) {
        ++untold_;
        take(view);
        return;
    }
    tell(view, blinked ? kBetween + std::string("the lock was lost for a moment") : "");
}

void LockTeller::end(const RxView& view) {
    // A stream that ends has lost nothing; one that stood still has not come back by being ended.
    if (is_told(view) && !stood_still_) look(view);
    if (told_ || view.now.totals.frames == 0) return;
    RxView was = view;
    was.now.locked = true;
    tell(was, "");
}

bool LockTeller::may_tell(double now_s) {
    if (now_s - minute_s_ >= 60) {
        minute_s_ = now_s;
        lines_ = 0;
    }
    return lines_ < kMostPerMinute;
}

void LockTeller::take(const RxView& view) {
    locked_ = is_told(view);
    locks_ = view.now.locks;
}

void LockTeller::tell(const RxView& view, const std::string& remark) {
    take(view);
    told_ = true;
    ++lines_;
    const std::string more =
        untold_ > 0 ? fmt::format("{}{} earlier changes were left out", kBetween, untold_) : "";
    untold_ = 0;
    tell_(state_line(view) + remark + more);
}

}  // namespace tidemill::cli

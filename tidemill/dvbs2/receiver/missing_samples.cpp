#include "tidemill/dvbs2/receiver/missing_samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "tidemill/io/transport/ts_monitor.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr double kPcrHz = 27e6;
constexpr double kPcrTurn = 300.0 * 8589934592.0;  // 33 bits of 90 kHz (ISO/IEC 13818-1, 2.4.2.2)
constexpr std::uint64_t kCounter = 1ULL << 32;     // beside all PIDs of all streams
constexpr double kCounterTurn = 1 << 22;           // EN 302 307-1, table D.1
constexpr std::size_t kMostReadings = 256;
constexpr std::size_t kMostGaps = 64;
constexpr double kWhole = 0.35;    // frames: where in one a packet came is known to a packet
constexpr double kLongest_s = 60;  // what a clock leaps by beyond is another's

// The PID identifies the clock of a stream (ISO/IEC 13818-1, 2.4.3.3).
std::uint64_t clock_of(std::uint8_t stream, std::span<const std::uint8_t> packet) {
    return std::uint64_t{stream} << 16 | (packet[1] & 0x1fU) << 8 | packet[2];
}

}  // namespace

void MissingAccount::begin_frame(const FrameInfo& info) {
    frame_at_ = info.place;
    frame_symbols_ = info.symbols;
    const auto samples = std::llround(info.missing.count * rates_.samples_per_symbol);
    if (samples <= 0) return;
    if (info.missing.doubtful == 0) count(info.missing);
    keep_latest(info.missing);
    gaps_.push_back(info.missing);
    if (gaps_.size() > kMostGaps) gaps_.erase(gaps_.begin());
    // The frames behind the gap have shown their clocks already.
    const std::vector<Reading> known(readings_.begin(), readings_.end());
    for (const Reading& reading : known) compare(reading);
}

void MissingAccount::count(const MissingSymbols& gap) {
    ++tally_.gaps;
    ++tally_.gaps_at_least;
    tally_.samples += static_cast<std::uint64_t>(std::llround(gap.count * rates_.samples_per_symbol));
    tally_.last_s = gap.place / rates_.symbol_rate_hz;
}

void MissingAccount::keep_latest(const MissingSymbols& gap) {
    tally_.latest.at(tally_.latest_begin) = {.before_s = gap.before / rates_.symbol_rate_hz,
                                             .behind_s = gap.behind / rates_.symbol_rate_hz,
                                             .samples = gap.count * rates_.samples_per_symbol,
                                             .frame_samples = gap.frame * rates_.samples_per_symbol};
    tally_.latest_begin = (tally_.latest_begin + 1) % MissingSamples::kMostLatest;
}

void MissingAccount::read_clocks(std::span<const std::uint8_t> packets, std::uint8_t stream) {
    const double step =
        frame_symbols_ * static_cast<double>(io::kTsPacketBytes) / static_cast<double>(packets.size());
    double at = frame_at_ + step / 2;
    for (; packets.size() >= io::kTsPacketBytes; packets = packets.subspan(io::kTsPacketBytes), at += step) {
        const auto pcr = io::pcr_of(packets);
        if (!pcr) continue;
        const double symbols_a_tick = rates_.symbol_rate_hz / kPcrHz;
        keep_reading({clock_of(stream, packets), kPcrTurn * symbols_a_tick,
                      static_cast<double>(*pcr) * symbols_a_tick, at});
    }
}

void MissingAccount::read_counter(std::uint32_t symbols, std::uint8_t stream) {
    keep_reading({kCounter | stream, kCounterTurn, static_cast<double>(symbols), frame_at_ + frame_symbols_});
}

void MissingAccount::keep_reading(const Reading& reading) {
    compare(reading);
    readings_.push_back(reading);
    if (readings_.size() > kMostReadings) readings_.pop_front();
}

// The last one before the first gap, and this one behind it; within a frame nobody knows on which side of a
// gap it is.
void MissingAccount::compare(const Reading& reading) {
    if (gaps_.empty() || reading.at < gaps_.front().place) return;
    const auto is_near = [&](const MissingSymbols& gap) {
        return gap.place <= reading.at && reading.at < gap.place + gap.frame;
    };
    if (std::ranges::any_of(gaps_, is_near)) return;
    const auto before = std::ranges::find_if(readings_.rbegin(), readings_.rend(), [&](const Reading& known) {
        return known.clock == reading.clock && known.at <= gaps_.front().place;
    });
    if (before != readings_.rend()) settle(*before, reading);
}

// A clock that leaps shows nothing: the gaps between are left as they are.
void MissingAccount::settle(const Reading& before, const Reading& behind) {
    double missing =
        std::fmod(behind.symbols - before.symbols + behind.turn, behind.turn) - (behind.at - before.at);
    const double frame = gaps_.front().frame;
    const auto is_between = [&](const MissingSymbols& gap) { return gap.place < behind.at; };
    const auto last = std::ranges::find_if_not(gaps_, is_between);
    std::for_each(gaps_.begin(), last, [&](const MissingSymbols& gap) { missing -= gap.count; });
    const double frames = std::round(missing / frame);
    if (frames >= -1 && missing < kLongest_s * rates_.symbol_rate_hz &&
        std::abs(missing / frame - frames) < kWhole)
        know_frames({gaps_.begin(), last}, frames);
    gaps_.erase(gaps_.begin(), last);
}

// How many whole ones are missing at several places. Where there is but one, and more than enough silence
// took the place of what is missing, they are one less than none.
void MissingAccount::know_frames(std::span<const MissingSymbols> gaps, double frames) {
    const MissingSymbols& first = gaps.front();
    if (gaps.size() == 1) {
        for (GapByFrames& known : tally_.latest) {
            if (known.before_s != first.before / rates_.symbol_rate_hz) continue;
            known.frames = std::llround(frames);
            known.frames_known = 1;
        }
    }
    if (frames < 0 || std::ranges::any_of(gaps, [](const auto& gap) { return gap.doubtful != 0; })) return;
    tally_.samples +=
        static_cast<std::uint64_t>(std::llround(frames * first.frame * rates_.samples_per_symbol));
    tally_.gaps_at_least -= gaps.size();
}

}  // namespace tidemill::dvbs2

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "tidemill/dvbs2/channel/channel.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/receiver/rx_frames.hpp"
#include "tidemill/dvbs2/send/multiplexer.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

/// Signals of our own transmitter, and what the receiver makes of them: for the receiver's tests.
namespace tidemill::dvbs2::internal {

/// Packets with random payload.
inline std::vector<std::uint8_t> random_packets(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> bytes(count * io::kTsPacketBytes);
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random() >> 56); });
    for (std::size_t at = 0; at < bytes.size(); at += io::kTsPacketBytes) bytes[at] = io::kTsSyncByte;
    return bytes;
}

/// Packets that were sent, and the samples that are received of them.
struct MadeReception {
    std::vector<std::uint8_t> packets;
    std::vector<dsp::Iq> samples;
};

/// As many random packets as fill `frames` frames of a plan, through the transmitter and a channel.
inline MadeReception make_reception(const std::vector<PlannedFrame>& plan, std::size_t frames,
                                    const ChannelConfig& channel_config) {
    Multiplexer multiplexer({.plan = plan});
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < frames; ++i) {
        const Pls& pls = plan[i % plan.size()].pls;
        bytes += pls.is_dummy() ? 0 : multiplexer.modulator(pls).bbframe_bytes() - kBbHeaderBytes;
    }
    MadeReception made{random_packets(bytes / io::kTsPacketBytes, channel_config.seed), {}};
    multiplexer.feed(0, made.packets);
    std::vector<dsp::Iq> symbols;
    while (multiplexer.send(symbols) || multiplexer.send_padded(symbols)) {
    }
    PulseShaper shaper(2, 0.20);
    Channel channel(channel_config);
    channel.process(shaper.process(symbols), made.samples);
    channel.process(shaper.finish(), made.samples);
    channel.finish(made.samples);
    return made;
}

/// The same where all frames are alike.
inline MadeReception make_reception(const Pls& pls, std::size_t frames, const ChannelConfig& channel) {
    return make_reception(std::vector<PlannedFrame>{{pls}}, frames, channel);
}

/// Samples in memory, handed out in pieces of odd sizes as a radio would.
class MemorySource final : public io::SampleSource {
  public:
    explicit MemorySource(std::span<const dsp::Iq> samples) : bytes_(std::as_bytes(samples)) {}

    dsp::SampleFormat format() const override { return dsp::SampleFormat::cf32; }
    std::optional<double> sample_rate_hz() const override { return 2.0; }
    std::size_t read(std::span<std::byte> to) override {
        constexpr std::size_t kMostBytes = 7777 * sizeof(dsp::Iq);
        const std::size_t count = std::min({to.size(), bytes_.size(), kMostBytes});
        std::ranges::copy(bytes_.first(count), to.begin());
        bytes_ = bytes_.subspan(count);
        given_ += count / sizeof(dsp::Iq);
        return count;
    }
    /// Samples handed out so far.
    std::size_t given() const { return given_; }

  private:
    std::span<const std::byte> bytes_;
    std::size_t given_ = 0;
};

/// All results of a reception that must not depend on the executor.
struct Received {
    std::vector<std::uint8_t> packets;
    ReceptionReport report;
};

/// Runs a receiver over the samples: in order when `schedule` is null.
inline Received receive(std::span<const dsp::Iq> samples, const Schedule* schedule = nullptr,
                        const PipelineOptions& options = {}) {
    Received received;
    MemorySource source(samples);
    Receiver receiver(source, {}, [&](std::span<const std::uint8_t> packets) {
        received.packets.insert(received.packets.end(), packets.begin(), packets.end());
    });
    if (schedule) {
        Pipeline(receiver.graph(), *schedule, options).run();
    } else {
        Sequence(receiver.graph()).run();
    }
    received.report = receiver.report();
    return received;
}

/// Whether two receptions agree to the last bit, times excepted.
inline bool same(const Received& a, const Received& b) {
    const auto facts = [](const Received& received) {
        const ReceptionReport& r = received.report;
        const FrameTotals& t = r.totals;
        return std::tuple(t.frames, t.frames_bad, t.info_bits, t.ldpc_iterations, t.corrected_bits,
                          t.noise_to_signal, t.frequency, t.inverted, t.frames_of_pls, t.symbols_before,
                          r.sync.symbols, r.sync.symbols_outside, r.sync.frames, r.sync.bad_headers,
                          r.sync.slips, r.sync.locks, r.packets.packets, r.packets.packets_dropped,
                          r.packets.packets_cut_off, r.samples_not_finite, r.samples_clipped, r.samples,
                          r.blocks_without_signal, r.blocks_without_clock);
    };
    return a.packets == b.packets && facts(a) == facts(b);
}

/// The place in `sent`, in packets, from which on it came out whole to its end; nothing when it did not.
inline std::optional<std::size_t> received_from(std::span<const std::uint8_t> sent,
                                                std::span<const std::uint8_t> received) {
    if (received.empty() || received.size() > sent.size()) return std::nullopt;
    if (!std::ranges::equal(sent.last(received.size()), received)) return std::nullopt;
    return (sent.size() - received.size()) / io::kTsPacketBytes;
}

/// Where each received packet was sent. Those that never were are counted by the last number, the count of
/// all.
inline std::vector<std::size_t> places_of(const std::vector<std::uint8_t>& received,
                                          const std::vector<std::uint8_t>& sent) {
    const auto packet = [](const std::vector<std::uint8_t>& of, std::size_t at) {
        return std::string_view(reinterpret_cast<const char*>(of.data() + at), io::kTsPacketBytes);
    };
    std::map<std::string_view, std::size_t> places;
    for (std::size_t at = 0; at < sent.size(); at += io::kTsPacketBytes) {
        places[packet(sent, at)] = at / io::kTsPacketBytes;
    }
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at < received.size(); at += io::kTsPacketBytes) {
        const auto place = places.find(packet(received, at));
        found.push_back(place == places.end() ? sent.size() : place->second);
    }
    return found;
}

inline constexpr std::size_t kShortFrameSamples = 2 * 8370;  // QPSK with pilots, two samples per symbol
inline const Pls kQpsk89{10, FrameSize::short_, true};

inline ChannelConfig usual_channel() {
    ChannelConfig channel;
    channel.esn0_db = 8.0;
    channel.frequency_cycles_per_symbol = 0.03;
    channel.phase_rad = 1.0;
    channel.delay_symbols = 0.3;
    channel.clock_offset_ppm = 20;
    channel.lead_samples = 40000;
    channel.tail_samples = 20000;
    return channel;
}

/// Short frames between noise, some of them missing in the middle.
inline const MadeReception& broken_reception() {
    static const MadeReception made = [] {
        MadeReception reception = make_reception(kQpsk89, 24, usual_channel());
        const auto hole = reception.samples.begin() + 40000 + 12 * kShortFrameSamples;
        std::fill(hole, hole + 3 * kShortFrameSamples, dsp::Iq{});
        return reception;
    }();
    return made;
}

}  // namespace tidemill::dvbs2::internal

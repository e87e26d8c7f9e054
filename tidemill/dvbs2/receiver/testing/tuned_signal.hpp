#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/dvbs2/search/tuning_plan.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/io/live/stream_reader.hpp"

/// Carriers out of wide recordings, through a tuner and a receiver: for tests.
namespace tidemill::dvbs2::internal {

inline std::unique_ptr<TunedSource> tuned(std::span<const std::byte> bytes, double sample_rate_hz,
                                          const Tuning& tuning) {
    return std::make_unique<TunedSource>(
        std::make_unique<io::MemoryReader>(bytes, dsp::SampleFormat::ci16, sample_rate_hz), tuning);
}

/// `esn0s_db` takes that of each frame.
inline Received receive_tuned(const MadeBand& band, double sample_rate_hz, const Tuning& tuning,
                              std::vector<float>* esn0s_db = nullptr) {
    const std::vector<std::byte> bytes = as_ci16(band.samples);
    const auto source = tuned(bytes, sample_rate_hz, tuning);
    Received received;
    RxOutputs outputs;
    outputs.streams.packets = [&](std::span<const std::uint8_t> packets, std::uint8_t) {
        received.packets.insert(received.packets.end(), packets.begin(), packets.end());
    };
    outputs.frames = [&](const ReceivedFrame& frame) {
        if (esn0s_db) esn0s_db->push_back(frame.esn0_db);
    };
    Receiver receiver(*source, {.symbol_rate_hz = tuning.symbol_rate_hz, .rolloff = tuning.rolloff},
                      std::move(outputs));
    Sequence(receiver.graph()).run();
    received.report = receiver.report();
    return received;
}

/// Packets lost before the first and behind the last that came out, in frames.
inline double frames_lost(const MadeBand& band, const Received& received, std::size_t packets_a_frame) {
    if (received.packets.empty()) return 1e9;
    const auto from = std::search(band.packets.begin(), band.packets.end(), received.packets.begin(),
                                  received.packets.begin() + io::kTsPacketBytes);
    if (band.packets.end() - from < static_cast<std::ptrdiff_t>(received.packets.size())) return 1e9;
    if (!std::equal(received.packets.begin(), received.packets.end(), from)) return 1e9;
    return static_cast<double>(band.packets.size() - received.packets.size()) / io::kTsPacketBytes /
           static_cast<double>(packets_a_frame);
}

/// A carrier of 1 MBd a little beside the middle, and its neighbours.
struct Beside {
    double ratio = 4;  ///< samples a symbol
    double rolloff = 0.20;
    double spacing = 1.25;  ///< in symbol rates
    double level_db = 0;    ///< of the neighbours, over the carrier
    int below = 0, above = 0;
};

struct ReceivedBeside {
    double off_hz = 0;  ///< of where the carrier was seen from where it is
    double frames_lost = 1e9;
    std::uint64_t frames_bad = 0;
    double esn0_db = 0;  ///< the mean of all frames
};

/// Result of a receiver for ci16 with 10 dB of Es/N0.
inline ReceivedBeside receive_beside(const Beside& beside) {
    constexpr double kRate = 1e6, kOffset = 0.02 * kRate;
    const BandConfig config{.sample_rate_hz = beside.ratio * kRate, .seconds = 0.08, .esn0_db = 10};
    std::vector<BandCarrier> carriers{
        {.symbol_rate_hz = kRate, .offset_hz = kOffset, .rolloff = beside.rolloff}};
    for (int k = 0; k < beside.above; ++k)
        carriers.push_back({kRate, kOffset + beside.spacing * kRate, beside.level_db, beside.rolloff});
    for (int k = 0; k < beside.below; ++k)
        carriers.push_back({kRate, kOffset - beside.spacing * kRate, beside.level_db, beside.rolloff});
    const MadeBand band = make_band(config, carriers);
    const auto bytes = as_ci16(band.samples);
    io::MemoryReader look(bytes, dsp::SampleFormat::ci16, config.sample_rate_hz);
    const TuningPlan plan =
        plan_tuning(look, {.symbol_rate_hz = kRate, .rolloff = beside.rolloff, .offset_hz = kOffset});
    if (!plan.tuning) return {};
    std::vector<float> esn0s_db;
    const Received received = receive_tuned(band, config.sample_rate_hz, *plan.tuning, &esn0s_db);
    double sum_db = 0;
    for (const float esn0_db : esn0s_db) sum_db += static_cast<double>(esn0_db);
    return {plan.tuning->offset_hz - kOffset, frames_lost(band, received, 7),
            received.report.totals.frames_bad, sum_db / static_cast<double>(esn0s_db.size())};
}

}  // namespace tidemill::dvbs2::internal

#pragma once

#include <cstring>
#include <vector>

#include "tidemill/io/live/vita49_packet.hpp"

namespace tidemill::io::internal {

/// Packets of a stream of 16-bit samples whose numbers are in them, for tests: sample n is (n mod 2^14 + 1)
/// in I and Q.
struct VitaPackets {
    double rate_hz = 1e6;
    std::uint64_t samples = 100;  ///< each
    std::uint32_t stream = 7;

    static std::vector<std::byte> numbers(std::uint64_t first, std::uint64_t count) {
        std::vector<std::byte> bytes;
        for (std::uint64_t n = first; n < first + count; ++n) {
            const auto number = static_cast<std::uint16_t>(n % 16384 + 1);
            for (int twice = 0; twice < 2; ++twice) {
                bytes.push_back(static_cast<std::byte>(number >> 8));
                bytes.push_back(static_cast<std::byte>(number));
            }
        }
        return bytes;
    }

    VitaTime time(std::uint64_t sample) const {
        constexpr std::uint64_t kPicoseconds = 1'000'000'000'000, kBegin = 999'999'000'000;
        const auto rate = static_cast<std::uint64_t>(rate_hz);
        const std::uint64_t picoseconds = kBegin + sample % rate * (kPicoseconds / rate);
        return {
            .seconds = static_cast<std::uint32_t>(1'700'000'000 + sample / rate + picoseconds / kPicoseconds),
            .counts = VitaFraction::picoseconds,
            .fraction = picoseconds % kPicoseconds};
    }

    /// The `index`th, from 0.
    std::vector<std::byte> data(std::uint64_t index) const {
        const std::vector<std::byte> payload = numbers(index * samples, samples);
        return make_vita_data({.kind = VitaKind::data,
                               .stream = stream,
                               .count = static_cast<std::uint8_t>(index & 15),
                               .time = time(index * samples),
                               .payload = payload});
    }

    std::vector<std::byte> context(std::uint64_t index = 0) const {
        return make_vita_context({.kind = VitaKind::context,
                                  .stream = stream,
                                  .count = static_cast<std::uint8_t>(index & 15),
                                  .time = time(index * samples),
                                  .context = {.sample_rate_hz = rate_hz,
                                              .frequency_hz = 741.5e6,
                                              .layout = vita_layout(dsp::SampleFormat::ci16_be)}},
                                 index == 0);
    }
};

}  // namespace tidemill::io::internal

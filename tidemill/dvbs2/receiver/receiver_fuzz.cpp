#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"

namespace {

using namespace tidemill::dvbs2;
using tidemill::dsp::Iq;

constexpr Pls kQpsk89{10, FrameSize::short_, true};
constexpr std::size_t kFrames = 5;
constexpr std::size_t kEditBytes = 8;

const std::vector<Iq>& clean_signal() {
    static const std::vector<Iq> samples = [] {
        ChannelConfig channel;
        channel.esn0_db = 9.0;
        channel.frequency_cycles_per_symbol = 0.01;
        channel.lead_samples = 3000;
        return internal::make_reception(kQpsk89, kFrames, channel).samples;
    }();
    return samples;
}

// A run of samples replaced, repeated, silenced, turned, amplified or filled with a float of any bits.
void edit(std::span<const std::uint8_t> bytes, std::vector<Iq>& samples) {
    const std::size_t from = (bytes[1] * 256U + bytes[2]) * samples.size() >> 16;
    const std::size_t length = std::min<std::size_t>(samples.size() - from, 1U << bytes[3] % 16);
    const auto run = std::span(samples).subspan(from, length);
    float value = 0;
    std::memcpy(&value, &bytes[4], sizeof value);
    const std::size_t other = (bytes[4] * 256U + bytes[5]) * (samples.size() - length) >> 16;
    switch (bytes[0] % 7) {
        case 0:
            std::ranges::fill(run, Iq{value, value});
            break;
        case 1:
            std::ranges::fill(run, Iq{});
            break;
        case 2:
            std::ranges::copy(std::vector(samples.begin() + other, samples.begin() + other + length),
                              run.begin());
            break;
        case 3:
            for (Iq& sample : run) sample *= value;
            break;
        case 4:
            for (Iq& sample : run) sample = {sample.imag(), sample.real()};
            break;
        case 5:
            samples.erase(samples.begin() + from, samples.begin() + from + length);
            break;
        default:
            std::ranges::reverse(run);
            break;
    }
}

}  // namespace

/// For any samples off the air, only whole packets come out, and all samples are accounted for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<Iq> samples = clean_signal();
    for (std::span bytes(data, size); bytes.size() >= kEditBytes && samples.size() > 4;
         bytes = bytes.subspan(kEditBytes))
        edit(bytes.first<kEditBytes>(), samples);
    const internal::Received received = internal::receive(samples);
    if (received.packets.size() % tidemill::io::kTsPacketBytes != 0) std::abort();
    if (received.packets.size() > 2 * kFrames * 1780) std::abort();
    if (received.report.samples != samples.size()) std::abort();
    return 0;
}

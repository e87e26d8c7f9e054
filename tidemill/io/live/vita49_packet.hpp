#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::io {

/// Kind of a VITA-49 packet, as far as a receiver of samples cares.
enum class VitaKind { data, context, other };

/// Unit of a time stamp's fraction (VITA 49.2, 5.1.5).
enum class VitaFraction { none, samples, picoseconds, free_running };

/// Owner and class of a packet.
struct VitaClass {
    std::uint32_t organisation = 0;  ///< 24 bits
    std::uint16_t information = 0;
    std::uint16_t packet = 0;

    bool operator==(const VitaClass&) const = default;
};

/// When the first sample of a packet was taken.
struct VitaTime {
    std::optional<std::uint32_t> seconds{};
    VitaFraction counts = VitaFraction::none;
    std::uint64_t fraction = 0;

    bool operator==(const VitaTime&) const = default;
};

/// How samples lie in data packets.
struct VitaForm {
    dsp::SampleFormat format = dsp::SampleFormat::ci16_be;
    int packed_bits =
        0;  ///< so many for each number, without gaps, unpacked into ci16; 0: as the format says

    bool operator==(const VitaForm&) const = default;
};

/// Content of a context packet.
struct VitaContext {
    std::optional<double> sample_rate_hz{};  ///< within what makes sense
    std::optional<double> frequency_hz{};    ///< of the radio
    std::optional<std::uint32_t> layout{};   ///< first word of the payload format
    std::optional<VitaForm> form{};          ///< what that means; none: nothing that is read here
};

/// A packet of VITA 49.2, of which DIFI's (IEEE-ISTO 4900-2021) are some.
struct VitaPacket {
    VitaKind kind = VitaKind::other;
    std::uint32_t stream = 0;
    std::optional<VitaClass> of_class{};
    std::uint8_t count = 0;  ///< 4 bits, of packets of its kind
    VitaTime time{};
    std::span<const std::byte> payload{};  ///< of data: whole items, padding left out
    VitaContext context{};
};

/// DIFI's classes of signal data and of its context (IEEE-ISTO 4900-2021, 4.2 and 4.3).
inline constexpr VitaClass kDifiData{0x6A621E, 0, 0};
inline constexpr VitaClass kDifiContext{0x6A621E, 0, 1};

/// Reads a datagram; empty where it is cut, or no packet. What is returned points into the datagram.
std::optional<VitaPacket> parse_vita(std::span<const std::byte> datagram);

/// Puts the samples of a data packet behind others, in `form.format`; a part of one at the end is left out.
void append_vita_samples(const VitaForm& form, std::span<const std::byte> payload,
                         std::vector<std::byte>& to);

/// Makes a signal data packet in DIFI's form; the payload holds whole words of 32 bits, at most
/// kMostVitaPayloadBytes.
std::vector<std::byte> make_vita_data(const VitaPacket& packet);
inline constexpr std::size_t kMostVitaPayloadBytes = 1440;  // an Ethernet frame holds it with all its headers

/// Makes a context packet in DIFI's form; `bandwidth_hz` and the like that are not known are 0.
std::vector<std::byte> make_vita_context(const VitaPacket& packet, bool changed);

/// The first word of the payload format that says how samples of a format lie: 8 or 16 bits. Empty for
/// another.
std::optional<std::uint32_t> vita_layout(dsp::SampleFormat format);

}  // namespace tidemill::io

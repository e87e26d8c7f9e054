#include "tidemill/io/live/vita49_packet.hpp"

#include <array>
#include <cstring>

#include <doctest/doctest.h>

#include "tidemill/io/testing/vita_packets.hpp"

namespace tidemill::io {
namespace {

std::vector<std::byte> packet_of_words(std::initializer_list<std::uint32_t> words) {
    std::vector<std::byte> bytes;
    for (const std::uint32_t word : words)
        for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::byte>(word >> shift));
    return bytes;
}

}  // namespace

TEST_CASE("VITA-49: a signal data packet as DIFI writes it is read") {
    const auto bytes = packet_of_words({0x18E50009, 0x0000002A, 0x006A621E, 0x00000000, 0x65000000,
                                        0x000000E8, 0xD4A51000, 0x00010002, 0xFFFF7FFF});
    const auto packet = parse_vita(bytes);
    REQUIRE(packet);
    CHECK(packet->kind == VitaKind::data);
    CHECK(packet->stream == 42);
    CHECK(packet->of_class == kDifiData);
    CHECK(packet->count == 5);
    CHECK(packet->time == VitaTime{0x65000000, VitaFraction::picoseconds, 1'000'000'000'000});
    CHECK(packet->payload.size() == 8);
}

TEST_CASE("VITA-49: a context packet of all fields is read in the order of their bits") {
    const auto bytes =
        packet_of_words({0x49E0001B, 7,  0x006A621E, 1,          0x65000000, 0,          0,
                         0xFBB98000, 75, 0x000001E8, 0x48000000, 0,          0,          0x0002C326,
                         0x46000000,                                                      // behind: 741.5 MHz
                         0,          0,  0,          0,          0x00000249, 0xF0000000,  // behind: 2.4 MS/s
                         0,          0,  0,          0xA0000000, 0xA00001C7, 0});
    const auto packet = parse_vita(bytes);
    REQUIRE(packet);
    CHECK(packet->kind == VitaKind::context);
    CHECK(packet->of_class == kDifiContext);
    CHECK(packet->context.frequency_hz == 741.5e6);
    CHECK(packet->context.sample_rate_hz == 2.4e6);
    CHECK(packet->context.form == VitaForm{dsp::SampleFormat::ci8});
}

TEST_CASE("VITA-49: what is made is read again, and no byte of it may be missing") {
    const internal::VitaPackets made{.rate_hz = 2.5e6};
    for (const auto& bytes : {made.data(3), made.context(2)}) {
        CHECK(parse_vita(bytes));
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            CAPTURE(size);
            CHECK_FALSE(parse_vita(std::span(bytes).first(size)));
        }
    }
    const auto data_bytes = made.data(3), context_bytes = made.context(2);
    const auto data = parse_vita(data_bytes), context = parse_vita(context_bytes);
    REQUIRE(data);
    REQUIRE(context);
    CHECK(data->time == made.time(300));
    CHECK(data->payload.size() == 400);
    CHECK(context->context.sample_rate_hz == 2.5e6);
    CHECK(context->context.frequency_hz == 741.5e6);
    CHECK(context->context.form == VitaForm{dsp::SampleFormat::ci16_be});
}

TEST_CASE("VITA-49: a packet cut short inside its fields is none, whatever its size says") {
    CHECK_FALSE(parse_vita(packet_of_words({0x49E00008, 7, 0x006A621E, 1, 0x65000000, 0, 0, 0x7BB98000})));
    CHECK_FALSE(parse_vita(packet_of_words({0x1CE00003, 7, 0x006A621E})));
    CHECK(parse_vita(packet_of_words({0x69E00002, 7}))->kind == VitaKind::other);
}

TEST_CASE("VITA-49: padding and trailer are no samples") {
    const auto bytes =
        packet_of_words({0x1CE0000A, 1, 0x806A621E, 0, 0x65000000, 0, 0, 0x01020304, 0x05060000, 0xCAFECAFE});
    const auto packet = parse_vita(bytes);
    REQUIRE(packet);
    CHECK(packet->payload.size() == 6);
}

TEST_CASE("VITA-49: layouts are 4 to 16 bits packed, floating point, and nothing else") {
    const auto form = [](std::uint32_t layout, std::uint32_t second = 0) {
        const auto bytes = packet_of_words({0x48000007, 1, 0x006A621E, 1, 0x00008000, layout, second});
        return parse_vita(bytes)->context.form;
    };
    CHECK(form(0xA00003CF) == VitaForm{dsp::SampleFormat::ci16_be});
    CHECK(form(0xA00002CB) == VitaForm{dsp::SampleFormat::ci16, 12});
    CHECK(form(0xAE0007DF) == VitaForm{dsp::SampleFormat::cf32_be});
    CHECK(form(0xAF000FFF) == VitaForm{dsp::SampleFormat::cf64_be});
    CHECK_FALSE(form(0x800003CF));     // real
    CHECK_FALSE(form(0xB00003CF));     // unsigned
    CHECK_FALSE(form(0xA00007DF));     // 32 bits
    CHECK_FALSE(form(0xA00003CF, 1));  // vectors
    CHECK_FALSE(form(0x200002CB));     // 12 bits with gaps
}

TEST_CASE("VITA-49: twelve bits are unpacked, the greatest becomes the greatest") {
    const auto payload = packet_of_words({0x7FF800AB, 0xC1230000});
    std::vector<std::byte> samples;
    append_vita_samples({dsp::SampleFormat::ci16, 12}, std::span(payload).first(6), samples);
    REQUIRE(samples.size() == 8);
    std::array<std::int16_t, 4> numbers{};
    std::memcpy(numbers.data(), samples.data(), samples.size());
    CHECK(numbers == std::array<std::int16_t, 4>{32752, -32768, -21568, 4656});
}

}  // namespace tidemill::io

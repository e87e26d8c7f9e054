#include "tidemill/io/transport/mpe_receiver.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/testing/made_ip.hpp"
#include "tidemill/io/testing/made_mpe.hpp"

namespace tidemill::io {
namespace {

using internal::made_ipv4;
using internal::made_ipv6;
using internal::made_packets;
using internal::made_section;
using Bytes = std::vector<std::uint8_t>;

struct Listener {
    explicit Listener(std::optional<std::uint16_t> pid = {})
        : receiver(pid, [this](std::span<const std::uint8_t> packet) {
              got.emplace_back(packet.begin(), packet.end());
          }) {}

    std::vector<Bytes> got{};
    MpeReceiver receiver;
};

Bytes with_snap(std::uint16_t type, const Bytes& packet) {
    Bytes bytes{
        0xaa, 0xaa, 3, 0, 0, 0, static_cast<std::uint8_t>(type >> 8), static_cast<std::uint8_t>(type)};
    bytes.insert(bytes.end(), packet.begin(), packet.end());
    return bytes;
}

}  // namespace

TEST_CASE("MPE: packets of any size come out, wherever sections begin and end") {
    Listener listener;
    std::vector<Bytes> sent, sections;
    for (std::size_t bytes = 0; bytes < 1400; bytes += 7) {
        sent.push_back(made_ipv4("10.1.2.3", "239.1.1.1", bytes, static_cast<std::uint8_t>(bytes)));
        sections.push_back(made_section(sent.back()));
    }
    sent.push_back(made_ipv6("2001:db8::1", "ff1e::1", 4000));
    sections.push_back(made_section(sent.back()));
    listener.receiver.push(made_packets(sections, 0x123));
    CHECK(listener.got == sent);
    CHECK(listener.receiver.counts().sections_cut_off == 0);
    CHECK(listener.receiver.counts().sections_bad_crc == 0);
}

TEST_CASE("MPE: stuffing behind a packet is cut off, LLC/SNAP is read, and parts are joined") {
    Listener listener;
    const Bytes packet = made_ipv4("10.1.2.3", "239.1.1.1", 300);
    Bytes stuffed = packet;
    stuffed.resize(400, 0xff);
    const Bytes big = made_ipv4("10.1.2.3", "239.1.1.1", 9000);
    const std::span<const std::uint8_t> all(big);
    listener.receiver.push(made_packets(
        {made_section(stuffed), made_section(with_snap(0x0800, packet), 0, 0, 0xc3),
         made_section(with_snap(0x0806, packet), 0, 0, 0xc3), made_section(all.first(4000), 0, 2),
         made_section(all.subspan(4000, 4000), 1, 2), made_section(all.subspan(8000), 2, 2)},
        0x20));
    CHECK(listener.got == std::vector<Bytes>{packet, packet, big});
    CHECK(listener.receiver.counts().other_protocols == 1);
}

TEST_CASE("MPE: what is damaged, scrambled or not there costs itself only, and is counted") {
    Listener listener;
    const Bytes packet = made_ipv4("10.1.2.3", "239.1.1.1", 500);
    const Bytes section = made_section(packet);
    Bytes damaged = section;
    damaged[30] ^= 1;
    listener.receiver.push(made_packets({damaged, section, made_section(packet, 0, 0, 0xf1),
                                         made_section(packet, 1, 2), made_section(Bytes(60, 0x77)), section},
                                        0x20));
    const MpeCounts& counts = listener.receiver.counts();
    CHECK(listener.got == std::vector<Bytes>{packet, packet});
    CHECK(counts.sections_bad_crc == 1);
    CHECK(counts.scrambled == 1);
    CHECK(counts.parts_without_start == 1);
    CHECK(counts.not_ip == 1);

    Bytes packets = made_packets({section, section}, 0x21);
    packets.erase(packets.begin() + kTsPacketBytes, packets.begin() + 2 * kTsPacketBytes);
    listener.receiver.push(packets);
    CHECK(listener.got.size() == 3);
    CHECK(counts.sections_cut_off == 1);
    packets = made_packets({section}, 0x22);
    packets[kTsPacketBytes + 1] |= 0x80;
    listener.receiver.push(packets);
    CHECK(listener.got.size() == 3);
    CHECK(counts.sections_cut_off == 2);
}

TEST_CASE("MPE: packets sent twice are taken once, one PID or all are followed, and no more than so many") {
    const Bytes packet = made_ipv4("10.1.2.3", "239.1.1.1", 100);
    const Bytes once = made_packets({made_section(packet)}, 0x30);
    Bytes twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    Listener listener;
    listener.receiver.push(twice);
    CHECK(listener.got.size() == 1);
    Listener other(0x31);
    other.receiver.push(once);
    CHECK(other.got.empty());
    Listener many;
    for (std::uint16_t pid = 100; pid < 130; ++pid)
        many.receiver.push(made_packets({made_section(packet)}, pid));
    CHECK(many.got.size() == MpeReceiver::kMostPids);
    CHECK(many.receiver.counts().pids_beyond == 30 - MpeReceiver::kMostPids);
}

}  // namespace tidemill::io

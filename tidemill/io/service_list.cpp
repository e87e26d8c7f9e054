#include "tidemill/io/service_list.hpp"

#include <algorithm>

namespace tidemill::io {
namespace {

// EN 300 468: table 1 for the PID, 5.2.3 for the table, 6.2.33 for the descriptor, annex A.2 for texts.
constexpr std::uint16_t kServicePid = 0x11;
constexpr std::uint8_t kActualStream = 0x42;
constexpr std::uint8_t kServiceDescriptor = 0x48;
constexpr char32_t kUnknown = 0xfffd;

using Bytes = std::span<const std::uint8_t>;

std::size_t twelve_bits(Bytes at) {
    return static_cast<std::size_t>(at[0] & 0x0f) << 8 | at[1];
}

void append(std::string& text, char32_t c) {
    const auto byte = [&](char32_t value) { text.push_back(static_cast<char>(value)); };
    if (c < 0x80) {
        byte(c);
    } else if (c < 0x800) {
        byte(0xc0 | c >> 6);
        byte(0x80 | (c & 0x3f));
    } else {
        byte(0xe0 | c >> 12);
        byte(0x80 | (c >> 6 & 0x3f));
        byte(0x80 | (c & 0x3f));
    }
}

// Emphasis and line breaks.
bool is_control(char32_t c) {
    return c >= 0x80 && c < 0xa0;
}

std::string of_bytes(Bytes bytes, bool latin) {
    std::string text;
    for (const std::uint8_t byte : bytes) {
        if (!is_control(byte)) append(text, byte < 0x80 || latin ? byte : kUnknown);
    }
    return text;
}

// A half of a surrogate pair is no character.
std::string of_pairs(Bytes bytes) {
    std::string text;
    for (; bytes.size() >= 2; bytes = bytes.subspan(2)) {
        const auto c = static_cast<char32_t>(bytes[0] << 8 | bytes[1]);
        if (!is_control(c) && (c & 0xff80) != 0xe080) append(text, c >= 0xd800 && c < 0xe000 ? kUnknown : c);
    }
    return text;
}

}  // namespace

std::string service_text(Bytes text) {
    constexpr std::uint8_t kThreeBytes = 0x10, kPairs = 0x11, kUtf8 = 0x15, kFirstCharacter = 0x20;
    if (text.empty()) return {};
    const std::uint8_t table = text[0];
    if (table >= kFirstCharacter) return of_bytes(text, false);
    if (table == kPairs) return of_pairs(text.subspan(1));
    if (table == kUtf8) return {text.begin() + 1, text.end()};
    if (table != kThreeBytes) return of_bytes(text.subspan(1), false);
    if (text.size() < 3) return {};
    return of_bytes(text.subspan(3), text[1] == 0 && text[2] == 1);
}

void ServiceList::look(Bytes packets) {
    for (; packets.size() >= kTsPacketBytes; packets = packets.subspan(kTsPacketBytes)) {
        const Bytes packet = packets.first(kTsPacketBytes);
        const bool damaged = (packet[1] & 0x80) != 0;
        if (damaged || pid_of(packet) != kServicePid) continue;
        sections_.add(packet);
        while (const auto table = sections_.next()) read(*table);
    }
}

void ServiceList::read(Bytes table) {
    constexpr std::size_t kHeader = 11, kCrc = 4;
    if (table[0] != kActualStream || table.size() < kHeader + kCrc) return;
    Bytes services = table.subspan(kHeader, table.size() - kHeader - kCrc);
    while (services.size() >= 5) {
        const int number = services[0] << 8 | services[1];
        const std::size_t length = std::min(twelve_bits(services.subspan(3)), services.size() - 5);
        Bytes descriptors = services.subspan(5, length);
        services = services.subspan(5 + length);
        for (; descriptors.size() >= 2; descriptors = descriptors.subspan(2 + std::size_t{descriptors[1]})) {
            if (descriptors.size() < 2 + std::size_t{descriptors[1]}) break;
            const Bytes body = descriptors.subspan(2, descriptors[1]);
            if (descriptors[0] != kServiceDescriptor || body.size() < 3) continue;
            const std::size_t provider = body[1];
            if (body.size() < provider + 3 || body.size() < provider + 3 + body[provider + 2]) continue;
            if (names_.size() < kMostServices || names_.contains(number))
                names_[number] = service_text(body.subspan(provider + 3, body[provider + 2]));
        }
    }
}

}  // namespace tidemill::io

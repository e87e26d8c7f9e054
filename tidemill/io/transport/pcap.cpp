#include "tidemill/io/transport/pcap.hpp"

namespace tidemill::io {
namespace {

constexpr std::uint32_t kMicroseconds = 0xa1b2c3d4;
constexpr std::uint32_t kVersion2Point4 = 4 << 16 | 2;
constexpr std::uint32_t kMostCapturedBytes = 65575;  // of version 6, with its header
constexpr std::uint32_t kRawIp = 101;

void append_little_endian(std::vector<std::uint8_t>& bytes, std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

}  // namespace

std::vector<std::uint8_t> pcap_header() {
    std::vector<std::uint8_t> header;
    for (const std::uint32_t field :
         {kMicroseconds, kVersion2Point4, std::uint32_t{0}, std::uint32_t{0}, kMostCapturedBytes, kRawIp})
        append_little_endian(header, field);
    return header;
}

std::vector<std::uint8_t> pcap_record(std::span<const std::uint8_t> packet,
                                      std::chrono::system_clock::time_point when) {
    using namespace std::chrono;
    const auto elapsed = duration_cast<microseconds>(when.time_since_epoch()).count();
    std::vector<std::uint8_t> record;
    append_little_endian(record, static_cast<std::uint32_t>(elapsed / 1000000));
    append_little_endian(record, static_cast<std::uint32_t>(elapsed % 1000000));
    append_little_endian(record, static_cast<std::uint32_t>(packet.size()));
    append_little_endian(record, static_cast<std::uint32_t>(packet.size()));
    record.insert(record.end(), packet.begin(), packet.end());
    return record;
}

}  // namespace tidemill::io

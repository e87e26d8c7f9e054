#include "tidemill/io/recordings/sdriq_header.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/io/files/internal/file.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

using Header = std::array<std::byte, SdriqHeader::kBytes>;

// Little endian: rate, frequency, time, bits of a sample, nothing, and the CRC of all before it.
constexpr std::size_t kRate = 0, kFrequency = 4, kBits = 20, kCrc = 28;

std::uint64_t header_number(const Header& header, std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(header[at + i]);
    return value;
}

// The CRC of Ethernet and zip (ISO/IEC 8802-3).
std::uint32_t header_crc(std::span<const std::byte> bytes) {
    std::uint32_t crc = 0xffffffff;
    for (const std::byte byte : bytes) {
        crc ^= std::to_integer<std::uint32_t>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320U : 0U);
    }
    return ~crc;
}

}  // namespace

SdriqHeader read_sdriq_header(const std::filesystem::path& path) {
    const auto fail = [&](std::string_view what) {
        throw IoError(fmt::format("cannot read '{}' as a recording of SDRangel: {}", path.string(), what));
    };
    Header header{};
    if (internal::File::open_regular(path).read_at(header, 0) != header.size()) fail("it ends in its header");
    if (header_crc(std::span(header).first(kCrc)) != header_number(header, kCrc, 4))
        fail("the check sum of its header is wrong");
    const std::uint64_t bits = header_number(header, kBits, 4);
    const SdriqHeader read{.is_24_bit = bits == 24,
                           .sample_rate_hz = static_cast<double>(header_number(header, kRate, 4)),
                           .center_frequency_hz = static_cast<double>(header_number(header, kFrequency, 8))};
    if (read.sample_rate_hz < 1) fail("its sample rate is 0");
    if (bits != 16 && bits != 24)
        fail(fmt::format("samples of {} bits are not supported: record with 16 or 24", bits));
    return read;
}

}  // namespace tidemill::io

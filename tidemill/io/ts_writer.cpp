#include "tidemill/io/ts_writer.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace tidemill::io {

void TsWriter::write(std::span<const std::uint8_t> packets) {
    if (packets.size() % kTsPacketBytes != 0) {
        throw std::invalid_argument(
            fmt::format("{} bytes are not a whole number of 188-byte packets", packets.size()));
    }
    packets_ += packets.size() / kTsPacketBytes;
    bytes_.write(packets);
}

}  // namespace tidemill::io

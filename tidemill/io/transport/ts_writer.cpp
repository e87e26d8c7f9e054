#include "tidemill/io/transport/ts_writer.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {

void TsWriter::write(std::span<const std::uint8_t> packets) {
    if (packets.size() % kTsPacketBytes != 0) {
        throw IoError(fmt::format("{} bytes are not a whole number of 188-byte packets", packets.size()));
    }
    packets_ += packets.size() / kTsPacketBytes;
    bytes_.write(packets);
}

}  // namespace tidemill::io

#include "tidemill/io/transport/ts_file.hpp"

#include <fmt/format.h>

#include "tidemill/io/files/internal/file.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::io {

TsFile read_ts_file(const std::filesystem::path& path) {
    const auto file = internal::File::open_regular(path);
    TsFile ts;
    ts.bytes.resize(file.size());
    ts.bytes.resize(file.read_at(std::as_writable_bytes(std::span(ts.bytes)), 0));
    ts.trailing_bytes = ts.bytes.size() % kTsPacketBytes;
    ts.bytes.resize(ts.bytes.size() - ts.trailing_bytes);
    if (ts.bytes.empty()) {
        throw IoError(fmt::format("'{}' holds no transport stream packet: it has {} bytes", path.string(),
                                  ts.trailing_bytes));
    }
    for (std::size_t at = 0; at < ts.bytes.size(); at += kTsPacketBytes) {
        if (ts.bytes[at] != kTsSyncByte) {
            throw IoError(
                fmt::format("'{}' is not a transport stream of 188-byte packets: packet {} begins with "
                            "{:#04x} instead of 0x47",
                            path.string(), at / kTsPacketBytes, ts.bytes[at]));
        }
    }
    return ts;
}

}  // namespace tidemill::io

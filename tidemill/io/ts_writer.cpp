#include "tidemill/io/ts_writer.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

constexpr std::size_t kBufferBytes = 348 * kTsPacketBytes;  // just under 64 KiB, the size of a pipe

}  // namespace

TsWriter::TsWriter(const std::filesystem::path& path) : file_(detail::File::open_for_writing(path)) {
    buffer_.reserve(kBufferBytes);
}

TsWriter::~TsWriter() {
    try {
        flush();
    } catch (const IoError&) {
        // A destructor cannot report; callers who want to know call close().
    }
}

void TsWriter::check_usable() const {
    if (!failure_.empty()) {
        throw IoError(failure_);
    }
}

void TsWriter::write(std::span<const std::uint8_t> packets) {
    if (packets.size() % kTsPacketBytes != 0) {
        throw std::invalid_argument(
            fmt::format("{} bytes are not a whole number of 188-byte packets", packets.size()));
    }
    check_usable();
    packets_ += packets.size() / kTsPacketBytes;
    buffer_.insert(buffer_.end(), packets.begin(), packets.end());
    if (buffer_.size() >= kBufferBytes) {
        flush();
    }
}

void TsWriter::flush() {
    check_usable();
    try {
        file_.write_all(std::as_bytes(std::span(buffer_)));
    } catch (const IoError& error) {
        failure_ = error.what();
        throw;
    }
    packets_delivered_ += buffer_.size() / kTsPacketBytes;
    buffer_.clear();
}

void TsWriter::close() {
    flush();
    file_.close();
}

}  // namespace tidemill::io

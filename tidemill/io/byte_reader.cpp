#include "tidemill/io/byte_reader.hpp"

#include <span>

#include <unistd.h>

#include "tidemill/io/stream_reader.hpp"

namespace tidemill::io {

ByteReader::ByteReader(const std::filesystem::path& path) {
    if (path != "-") file_ = internal::File::open_regular(path);
}

std::size_t ByteReader::read(std::span<std::uint8_t> to) {
    const auto bytes = std::as_writable_bytes(to);
    const std::size_t got = file_ ? file_->read_at(bytes, offset_) : read_whole(STDIN_FILENO, bytes);
    offset_ += got;
    return got;
}

bool ByteReader::rewind() {
    offset_ = 0;
    return file_.has_value();
}

}  // namespace tidemill::io

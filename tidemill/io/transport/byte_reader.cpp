#include "tidemill/io/transport/byte_reader.hpp"

#include <span>

namespace tidemill::io {

ByteReader::ByteReader(const std::filesystem::path& path) {
    if (InputStream::is_stream(path)) {
        stream_.emplace(path);
    } else {
        file_ = internal::File::open_regular(path);
    }
}

std::size_t ByteReader::read(std::span<std::uint8_t> to) {
    const auto bytes = std::as_writable_bytes(to);
    const std::size_t got = file_ ? file_->read_at(bytes, offset_) : stream_->read(bytes);
    offset_ += got;
    return got;
}

bool ByteReader::rewind() {
    offset_ = 0;
    return file_.has_value();
}

void ByteReader::end() noexcept {
    if (stream_) stream_->end();
}

}  // namespace tidemill::io

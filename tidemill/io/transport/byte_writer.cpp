#include "tidemill/io/transport/byte_writer.hpp"

#include <utility>

#include "tidemill/io/files/internal/output_file.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::io {
namespace {

constexpr std::size_t kBufferBytes = 348 * kTsPacketBytes;  // just under 64 KiB, the size of a pipe

}  // namespace

ByteWriter::ByteWriter(const std::filesystem::path& path)
    : file_(std::make_unique<internal::OutputFile>(path)) {
    buffer_.reserve(kBufferBytes);
}

ByteWriter::ByteWriter(const std::filesystem::path& path, std::stop_token enough)
    : ByteWriter(internal::OutputFile(path, std::move(enough))) {}

ByteWriter::ByteWriter(internal::OutputFile&& file)
    : file_(std::make_unique<internal::OutputFile>(std::move(file))) {
    buffer_.reserve(kBufferBytes);
}

std::optional<ByteWriter> ByteWriter::make(const std::filesystem::path& path) {
    auto file = internal::OutputFile::make(path);
    if (!file) return std::nullopt;
    return ByteWriter(std::move(*file));
}

ByteWriter::ByteWriter(ByteWriter&&) noexcept = default;

ByteWriter::~ByteWriter() {
    if (!file_) return;  // moved from
    try {
        flush();
    } catch (const IoError&) {
        // A destructor cannot report; callers that want to know call close().
    }
}

void ByteWriter::check_usable() const {
    if (!failure_.empty()) {
        throw IoError(failure_);
    }
}

void ByteWriter::write(std::span<const std::uint8_t> bytes) {
    check_usable();
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    if (buffer_.size() >= kBufferBytes) {
        flush();
    }
}

void ByteWriter::flush() {
    check_usable();
    const std::uint64_t before = file_->written();
    const auto count_delivered = [&] {
        const std::uint64_t delivered = file_->written() - before;
        bytes_delivered_ += delivered;
        buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(delivered));
    };
    try {
        file_->write_all(std::as_bytes(std::span(buffer_)));
    } catch (const IoError& error) {
        failure_ = error.what();
        count_delivered();  // a disk that fills up has taken a part
        throw;
    }
    count_delivered();
}

void ByteWriter::go_on_at(std::uint64_t bytes, std::size_t piece) {
    buffer_.clear();
    bytes_delivered_ = file_->go_on_at(bytes, piece);
}

void ByteWriter::let_end() {
    file_->let_end();
}

void ByteWriter::end() noexcept {
    file_->end();
}

void ByteWriter::close(bool empties) {
    flush();
    file_->close(empties);
}

}  // namespace tidemill::io

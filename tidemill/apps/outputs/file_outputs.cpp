#include "tidemill/apps/outputs/file_outputs.hpp"

#include <chrono>
#include <filesystem>
#include <system_error>

#include "tidemill/apps/outputs/retried_output.hpp"
#include "tidemill/io/transport/byte_writer.hpp"
#include "tidemill/options/option.hpp"

namespace tidemill::cli {

namespace {

OutputAt at_of(const io::ByteWriter& file) {
    return {.bytes = file.bytes_delivered()};
}

OutputAt at_of(const io::RollingWriter& files) {
    return {files.part(), files.bytes()};
}

// A live input cannot be received again: whole pieces written since stay, and a row of files goes on in a
// new one.
void go_on(io::ByteWriter& file, const OutputAt& at, bool live, std::size_t piece) {
    file.go_on_at(at.bytes, live ? piece : 0);
}

void go_on(io::RollingWriter& files, const OutputAt& at, bool live, std::size_t /*piece*/) {
    if (!live) files.go_on_at(at.part, at.bytes);
}

/// Data that are kept back leave in time for readers of a growing file.
template <class Writer>
class FlushedOutput final : public ByteOutput {
  public:
    FlushedOutput(Writer writer, bool live, std::size_t piece)
        : writer_(std::move(writer)), live_(live), piece_(piece) {}

    void write(std::span<const std::uint8_t> piece) override {
        writer_.write(piece);
        const auto now = Clock::now();
        if (!live_ && now - flushed_ < kPatience) return;
        writer_.flush();
        flushed_ = now;
    }
    void flush() override { writer_.flush(); }
    // A reception that gave nothing leaves what was there.
    void close() override { writer_.close(false); }
    void end() noexcept override {
        if constexpr (requires { writer_.end(); }) writer_.end();
    }
    OutputAt at() const override { return at_of(writer_); }
    void go_on_at(const OutputAt& at) override { go_on(writer_, at, live_, piece_); }
    std::uint64_t bytes_kept_back() const override { return writer_.bytes_waiting(); }

  private:
    using Clock = std::chrono::steady_clock;

    // How long a player that reads along may be kept waiting while bytes trickle in.
    static constexpr std::chrono::milliseconds kPatience{200};

    Writer writer_;
    bool live_;
    std::size_t piece_;
    Clock::time_point flushed_ = Clock::now();
};

// A pipe or a device takes a single stream.
bool is_file(const std::string& path) {
    std::error_code none;
    const auto status = std::filesystem::status(path, none);
    return !is_standard_stream(path) && (!exists(status) || is_regular_file(status));
}

std::unique_ptr<ByteOutput> open_once(const std::string& path, const OutputStyle& style, std::size_t piece) {
    if (style.roll.any() && is_file(path))
        return std::make_unique<FlushedOutput<io::RollingWriter>>(io::RollingWriter(path, style.roll),
                                                                  style.live, piece);
    io::ByteWriter file(path, style.hurry);
    if (style.when_full == io::WhenFull::lose) file.let_end();
    return std::make_unique<FlushedOutput<io::ByteWriter>>(std::move(file), style.live, piece);
}

}  // namespace

// A live signal cannot be received again, so a disk that is full for a while must not end it.
std::unique_ptr<ByteOutput> open_file_output(const std::string& path, const OutputStyle& style,
                                             std::size_t piece) {
    if (!style.live || !is_file(path)) return open_once(path, style, piece);
    return std::make_unique<RetriedOutput>(path,
                                           [path, style, piece] { return open_once(path, style, piece); });
}

}  // namespace tidemill::cli

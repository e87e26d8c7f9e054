#include "tidemill/io/live/input_stream.hpp"

#include <array>
#include <chrono>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/byte_stream_source.hpp"
#include "tidemill/io/transport/byte_reader.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::io {
namespace {

// A named pipe that has something in it and stays open for writing.
class Pipe {
  public:
    explicit Pipe(std::string_view text) {
        REQUIRE(::mkfifo(path().c_str(), 0600) == 0);
        held_ = ::open(path().c_str(), O_RDWR | O_CLOEXEC);
        REQUIRE(::write(held_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() { close(); }

    std::filesystem::path path() const { return folder_ / "pipe"; }
    void close() {
        if (held_ >= 0) ::close(held_);
        held_ = -1;
    }

  private:
    ScratchFolder folder_;
    int held_ = -1;
};

}  // namespace

TEST_CASE("byte stream: a WAV header before the samples is left out, that of other samples refused") {
    const auto word = [](std::uint32_t value) {
        return std::string{static_cast<char>(value), static_cast<char>(value >> 8),
                           static_cast<char>(value >> 16), static_cast<char>(value >> 24)};
    };
    const std::string head = "RIFF" + word(0) + "WAVEjunk" + word(3) + "abc." + "fmt " + word(16) +
                             word(0x00020003) + word(1000000) + word(8000000) + word(0x00200008) + "data" +
                             word(0);
    const std::string samples = "RIFFabcdRF64efgh";
    const auto read = [&](const std::string& text, dsp::SampleFormat format) {
        Pipe pipe(text);
        ByteStreamSource source(pipe.path(), format, 1e6);
        pipe.close();
        std::string got(100, '.');
        std::size_t done = 0;
        for (std::size_t some = 1; some > 0; done += some)
            some = source.read(std::as_writable_bytes(std::span(got)).subspan(done));
        return std::pair(got.substr(0, done), source.remarks());
    };
    CHECK(read(head + samples, dsp::SampleFormat::cf32).first == samples);
    CHECK_FALSE(read(head + samples, dsp::SampleFormat::cf32).second.empty());
    for (const std::string text : {"RIFFabcdefgh", "R.", "RIFFxx", "ab"}) {
        const auto [got, remarks] = read(text, dsp::SampleFormat::ci8);
        CHECK(got == text);
        CHECK(remarks.empty());
    }
    CHECK_THROWS_AS(read(head + samples, dsp::SampleFormat::ci16), IoError);
}

TEST_CASE("input stream: a named pipe is read to the end of its writers") {
    Pipe pipe("abcdef");
    CHECK(InputStream::is_stream(pipe.path()));
    InputStream stream(pipe.path());
    pipe.close();
    std::array<std::byte, 4> bytes{};
    CHECK(stream.read(bytes) == 4);
    CHECK(stream.read(bytes) == 2);
    CHECK(stream.read_some(bytes) == 0);
}

TEST_CASE("byte stream source: a last sample of which a part is missing is left out, and told") {
    for (const std::string_view text : {"abcdef", "abcdefg"}) {
        Pipe pipe(text);
        ByteStreamSource samples(pipe.path(), dsp::SampleFormat::ci8, 1e6);
        pipe.close();
        std::array<std::byte, 8> bytes{};
        CHECK(samples.read(bytes) == 6);
        CHECK(samples.read(bytes) == 0);
        CHECK(samples.remarks() ==
              (text.size() % 2 == 0
                   ? ""
                   : "the last sample is cut off, and not read: 1 of its 2 bytes are there"));
    }
}

TEST_CASE("input stream: who waits for a silent writer can be told that this is the end") {
    const Pipe pipe("abcd");
    ByteStreamSource samples(pipe.path(), dsp::SampleFormat::ci8, 1e6);
    std::array<std::byte, 16> bytes{};
    CHECK(samples.read(bytes) == 4);
    std::thread reader([&] { CHECK(samples.read(bytes) == 0); });
    samples.end();
    reader.join();
    CHECK(samples.read(bytes) == 0);
}

TEST_CASE(
    "input stream: an other end that stands still for longer than it may is a failure, an end is none") {
    using namespace std::chrono_literals;
    const Pipe pipe("abcd");
    std::array<std::byte, 16> bytes{};
    ByteStreamSource samples(pipe.path(), dsp::SampleFormat::ci8, 1e6, {}, {},
                             ByteStreamSource::Patience{.first = 1h, .later = 1ms});
    CHECK(samples.read(bytes) == 4);
    CHECK_THROWS_WITH_AS(samples.read(bytes), doctest::Contains("nothing has come"), IoError);
    samples.end();
    CHECK(samples.read(bytes) == 0);
    ByteStreamSource silent(pipe.path(), dsp::SampleFormat::ci8, 1e6, {}, {},
                            ByteStreamSource::Patience{.first = 1ms, .later = 1h});
    CHECK_THROWS_WITH_AS(silent.read(bytes), doctest::Contains("nothing has come"), IoError);
}

TEST_CASE("byte reader: a named pipe is a stream, which cannot begin anew") {
    Pipe pipe("abc");
    ByteReader reader(pipe.path());
    pipe.close();
    std::array<std::uint8_t, 4> bytes{};
    CHECK(reader.read(bytes) == 3);
    CHECK(!reader.rewind());
}

TEST_CASE("input stream: folders, devices and files are none") {
    const ScratchFolder folder;
    for (const std::filesystem::path& path :
         {std::filesystem::path(folder / "."), std::filesystem::path("/dev/zero"),
          std::filesystem::path(folder.put("file", "x")), std::filesystem::path(folder / "missing")})
        CHECK(!InputStream::is_stream(path));
}

}  // namespace tidemill::io

#include "tidemill/io/transport/ts_writer.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/transport/byte_writer.hpp"
#include "tidemill/io/transport/ts_file.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::io {
namespace {

std::vector<std::uint8_t> packets(std::size_t count) {
    std::vector<std::uint8_t> bytes(count * kTsPacketBytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = i % kTsPacketBytes == 0 ? kTsSyncByte : static_cast<std::uint8_t>(i * 7);
    }
    return bytes;
}

/// While it lives, no file grows beyond so many bytes.
class FullDisk {
  public:
    explicit FullDisk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;
    ~FullDisk() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, signal_);
    }

  private:
    void (*signal_)(int);
    rlimit before_{};
};

}  // namespace

TEST_CASE("ts writer: what goes in comes out of the file, whatever the sizes of the calls") {
    const ScratchFolder folder;
    const auto stream = packets(1000);
    for (const std::size_t at_a_time : {1U, 3U, 347U, 1000U}) {
        TsWriter writer(folder / "out.ts");
        for (std::size_t i = 0; i < 1000; i += at_a_time) {
            const auto count = std::min<std::size_t>(at_a_time, 1000 - i);
            writer.write(std::span(stream).subspan(i * kTsPacketBytes, count * kTsPacketBytes));
        }
        CHECK(writer.packets() == 1000);
        writer.close();
        CHECK(writer.packets_delivered() == 1000);
        CHECK(read_ts_file(folder / "out.ts").bytes == stream);
    }
}

TEST_CASE("ts writer: leaving without close still writes what was buffered") {
    const ScratchFolder folder;
    { TsWriter(folder / "out.ts").write(packets(2)); }
    CHECK(read_ts_file(folder / "out.ts").packets() == 2);
}

TEST_CASE("ts writer: paths that cannot be written are refused at once with the reason") {
    const ScratchFolder folder;
    CHECK_THROWS_WITH_AS(TsWriter("/nowhere/out.ts"), doctest::Contains("'/nowhere/out.ts': No such file"),
                         IoError);
    CHECK_THROWS_WITH_AS(TsWriter(folder / "."), doctest::Contains("Is a directory"), IoError);
    CHECK_THROWS_AS(TsWriter(folder / "out.ts").write(std::vector<std::uint8_t>(100)), IoError);
}

TEST_CASE("ts writer: a file keeps what it held until the first packet or the close") {
    const ScratchFolder folder;
    const auto path = folder.put("out.ts", "old");
    { const TsWriter refused(path); }
    CHECK(ScratchFolder::content_of(path) == "old");
    { const TsWriter refused(folder / "new.ts"); }
    CHECK(!std::filesystem::exists(folder / "new.ts"));
    TsWriter empty(path);
    empty.close();
    CHECK(ScratchFolder::content_of(path).empty());
}

TEST_CASE("ts writer: a file that is being written is refused to a second writer, and keeps what it holds") {
    const ScratchFolder folder;
    const auto path = folder / "out.ts";
    {
        TsWriter first(path);
        first.write(packets(3));
        CHECK_THROWS_AS(TsWriter{path}, IoError);
        CHECK_FALSE(ByteWriter::make(path).has_value());
        first.close();
    }
    CHECK(std::filesystem::file_size(path) == 3 * kTsPacketBytes);
    CHECK_NOTHROW(TsWriter{path});
}

TEST_CASE("ts writer: going on behind a position keeps the whole packets behind it, or cuts them off") {
    const ScratchFolder folder;
    for (const bool keeps : {true, false}) {
        const auto path = folder.put("out.ts", std::string(5 * kTsPacketBytes + 7, 'x'));
        ByteWriter writer(path);
        writer.go_on_at(2 * kTsPacketBytes, keeps ? kTsPacketBytes : 0);
        CHECK(writer.bytes_delivered() == (keeps ? 5 : 2) * kTsPacketBytes);
        writer.write(packets(1));
        writer.close();
        CHECK(std::filesystem::file_size(path) == (keeps ? 6 : 3) * kTsPacketBytes);
    }
}

TEST_CASE("ts writer: of what a disk has no room for it keeps no beginning, and what it keeps is counted") {
    const ScratchFolder folder;
    const auto stream = packets(1000);
    const std::span<const std::uint8_t> all(stream);
    ByteWriter writer(folder / "out.ts");
    {
        const FullDisk disk(100'003);
        writer.write(all.first(400 * kTsPacketBytes));
        CHECK_THROWS_AS(writer.write(all.subspan(400 * kTsPacketBytes)), IoError);
        CHECK_THROWS_AS(writer.flush(), IoError);
    }
    CHECK(writer.bytes_delivered() == 400 * kTsPacketBytes);
    CHECK(writer.bytes_waiting() == 600 * kTsPacketBytes);
    CHECK(std::filesystem::file_size(folder / "out.ts") == writer.bytes_delivered());
}

TEST_CASE("ts writer: a full disk is an error that stays, and what was delivered is counted") {
    TsWriter small("/dev/full");
    small.write(packets(3));
    CHECK_THROWS_WITH_AS(small.close(), doctest::Contains("'/dev/full': No space left"), IoError);
    CHECK(small.packets_delivered() == 0);
    TsWriter large("/dev/full");
    CHECK_THROWS_AS(large.write(packets(1000)), IoError);
    CHECK_THROWS_AS(large.write(packets(1)), IoError);
    CHECK_THROWS_AS(large.close(), IoError);
}

TEST_CASE("ts writer: a reader that goes away is an error, not the end of the process") {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    {
        TsWriter writer(fmt::format("/dev/fd/{}", ends[1]));
        close(ends[0]);
        close(ends[1]);
        CHECK_THROWS_WITH_AS(writer.write(packets(1000)), doctest::Contains("Broken pipe"), IoError);
    }
    sigset_t pending;
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
}

TEST_CASE("ts file: only whole 188-byte packets with sync bytes are a transport stream") {
    const ScratchFolder folder;
    const auto stream = packets(3);
    std::string text(stream.begin(), stream.end());
    const auto ts = read_ts_file(folder.put("cut.ts", text + "Gxyz"));
    CHECK(ts.bytes == stream);
    CHECK(ts.trailing_bytes == 4);
    text[188] = 'x';
    CHECK_THROWS_WITH_AS(read_ts_file(folder.put("bad.ts", text)), doctest::Contains("packet 1"), IoError);
    CHECK_THROWS_WITH_AS(read_ts_file(folder.put("empty.ts", "")), doctest::Contains("no transport stream"),
                         IoError);
    CHECK_THROWS_AS(read_ts_file(folder / "none.ts"), IoError);
}

}  // namespace tidemill::io

#include "tidemill/io/transport/rolling_writer.hpp"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::io {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

// 2026-01-02 03:04:05 UTC
constexpr std::chrono::system_clock::time_point kBegin{std::chrono::seconds(1767323045)};

struct HandClock {
    std::chrono::seconds elapsed{0};

    RollClock clock() {
        return {[this] { return kBegin + elapsed; },
                [this] { return std::chrono::steady_clock::time_point(elapsed); }};
    }
};

std::map<std::string, std::size_t> sizes_in(const ScratchFolder& folder) {
    std::map<std::string, std::size_t> sizes;
    for (const auto& file : std::filesystem::directory_iterator(folder / ""))
        sizes[file.path().filename()] = file.file_size();
    return sizes;
}

}  // namespace

TEST_CASE("rolling files: by size, whole pieces, and files of one second are numbered") {
    const ScratchFolder folder;
    HandClock hand;
    RollingWriter files(folder / "video.ts", {.bytes = 1000}, hand.clock());
    for (int piece = 0; piece < 7; ++piece) files.write(Bytes(400));
    files.write(Bytes(1500));
    files.close();
    CHECK(sizes_in(folder) == std::map<std::string, std::size_t>{{"video.20260102T030405Z.ts", 800},
                                                                 {"video.20260102T030405Z-2.ts", 800},
                                                                 {"video.20260102T030405Z-3.ts", 800},
                                                                 {"video.20260102T030405Z-4.ts", 400},
                                                                 {"video.20260102T030405Z-5.ts", 1500}});
}

TEST_CASE("rolling files: by age, and what is there is never touched") {
    const ScratchFolder folder;
    folder.put("video.20260102T030405Z.ts", "not ours");
    HandClock hand;
    RollingWriter files(folder / "video.ts", {.age = 3600s}, hand.clock());
    files.write(Bytes(188));
    hand.elapsed = 3599s;
    files.write(Bytes(188));
    hand.elapsed = 3600s;
    files.write(Bytes(188));
    files.close();
    CHECK(sizes_in(folder) == std::map<std::string, std::size_t>{{"video.20260102T030405Z.ts", 8},
                                                                 {"video.20260102T030405Z-2.ts", 376},
                                                                 {"video.20260102T040405Z.ts", 188}});
}

TEST_CASE("rolling files: the same files are gone on with, and only such") {
    const ScratchFolder folder;
    HandClock hand;
    std::string part;
    {
        RollingWriter files(folder / "video.ts", {.bytes = 1000}, hand.clock());
        files.write(Bytes(400, 1));
        files.write(Bytes(400, 2));
        files.flush();
        part = files.part();
    }
    hand.elapsed = 60s;
    RollingWriter files(folder / "video.ts", {.bytes = 1000}, hand.clock());
    CHECK_THROWS_AS(files.go_on_at("../../etc/passwd", 0), IoError);
    CHECK_THROWS_AS(files.go_on_at("20260102T030404Z", 0), IoError);
    CHECK_THROWS_AS(files.go_on_at(part, 801), IoError);
    files.go_on_at(part, 400);
    files.write(Bytes(400, 3));
    files.write(Bytes(400, 4));
    files.close();
    CHECK(sizes_in(folder) == std::map<std::string, std::size_t>{{"video.20260102T030405Z.ts", 800},
                                                                 {"video.20260102T030505Z.ts", 400}});
    CHECK(ScratchFolder::content_of(folder / "video.20260102T030405Z.ts") ==
          std::string(400, '\1') + std::string(400, '\3'));
}

TEST_CASE("rolling files: a place where no file can be is told at once") {
    CHECK_THROWS_AS(RollingWriter("/nowhere/video.ts", {.bytes = 1}), IoError);
}

}  // namespace tidemill::io

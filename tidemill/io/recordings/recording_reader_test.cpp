#include "tidemill/io/recordings/recording_reader.hpp"

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::io {
namespace {

std::string counting_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    std::iota(bytes.begin(), bytes.end(), '\0');
    return bytes;
}

std::string read_all(RecordingReader& reader, std::size_t block_bytes) {
    std::vector<std::byte> block(block_bytes);
    std::string all;
    while (const auto got = reader.read(block)) {
        all.append(reinterpret_cast<const char*>(block.data()), got);
    }
    return all;
}

}  // namespace

TEST_CASE("reader: blocks of any size give the whole samples of the file, once and in order") {
    const ScratchFolder folder;
    const auto content = counting_bytes(1003);
    const auto recording = open_recording(folder.put("r.ci16", content));
    for (const std::size_t block_bytes : {4U, 7U, 64U, 1000U, 5000U}) {
        RecordingReader reader(recording);
        CHECK(read_all(reader, block_bytes) == content.substr(0, 1000));
        CHECK(reader.position() == 250);
        CHECK(reader.missing_samples() == 0);
    }
}

TEST_CASE("reader: seeking goes to a sample and never beyond the end") {
    const ScratchFolder folder;
    const auto content = counting_bytes(200);
    RecordingReader reader(open_recording(folder.put("r.ci8", content)));
    reader.seek(90);
    CHECK(read_all(reader, 16) == content.substr(180));
    reader.seek(1U << 30U);
    CHECK(reader.position() == 100);
    CHECK(read_all(reader, 16).empty());
}

TEST_CASE("reader: a file that shrinks while it is read ends early, and the loss is counted") {
    const ScratchFolder folder;
    const auto path = folder.put("r.ci8", counting_bytes(200));
    RecordingReader reader(open_recording(path));
    std::filesystem::resize_file(path, 61);
    CHECK(read_all(reader, 16).size() == 60);
    CHECK(reader.missing_samples() == 70);
}

TEST_CASE("reader: integers of 24 bits in three bytes or four are read exactly, to the last sample") {
    const std::vector<std::int32_t> numbers{0, 1, -1, 8388607, -8388608, 4194304, -3, 1234567};
    for (const unsigned bytes : {3U, 4U}) {
        CAPTURE(bytes);
        std::string stored = "header";
        for (const std::int32_t number : numbers)
            for (unsigned k = 0; k < bytes; ++k) stored += static_cast<char>(number >> (8 * k));
        const ScratchFolder folder;
        Recording recording;
        recording.data_path = folder.put("some.bin", stored + "rest");
        recording.data_offset = 6;
        recording.integers = {.bytes = bytes, .bits = 24};
        recording.samples = numbers.size() / 2;
        CHECK(stored_bytes_per_sample(recording) == 2 * bytes);
        for (const std::size_t block : {1U, 3U, 100U}) {
            RecordingReader reader(recording);
            CHECK(reader.format() == dsp::SampleFormat::cf32);
            std::vector<float> read;
            std::vector<float> some(2 * block);
            for (;;) {
                const std::size_t got = reader.read(std::as_writable_bytes(std::span(some)));
                if (got == 0) break;
                read.insert(read.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got / 4));
            }
            REQUIRE(read.size() == numbers.size());
            for (std::size_t i = 0; i < numbers.size(); ++i)
                CHECK(read[i] * 8388608.0F == static_cast<float>(numbers[i]));
        }
    }
}

TEST_CASE("reader: whole numbers of 16 and 32 bits, with sign or without, in either order of bytes") {
    struct Case {
        StoredIntegers integers;
        std::string stored;  // -1/2 and 1/4 of full scale
    };
    for (const Case& c :
         {Case{{.bytes = 4, .bits = 32}, std::string("\0\0\0\xc0\0\0\0\x20", 8)},
          {{.bytes = 4, .bits = 32, .is_big_endian = true}, std::string("\xc0\0\0\0\x20\0\0\0", 8)},
          {{.bytes = 4, .bits = 32, .is_unsigned = true}, std::string("\0\0\0\x40\0\0\0\xa0", 8)},
          {{.bytes = 2, .bits = 16, .is_unsigned = true}, std::string("\0\x40\0\xa0", 4)},
          {{.bytes = 2, .bits = 16, .is_unsigned = true, .is_big_endian = true},
           std::string("\x40\0\xa0\0", 4)}}) {
        const ScratchFolder folder;
        Recording recording;
        recording.data_path = folder.put("some.bin", c.stored);
        recording.integers = c.integers;
        recording.samples = 1;
        std::array<float, 2> read{};
        CHECK(RecordingReader(recording).read(std::as_writable_bytes(std::span(read))) == 8);
        CHECK(read[0] == -0.5F);
        CHECK(read[1] == 0.25F);
    }
}

TEST_CASE("reader: of 24 bits, a file that has become shorter ends early and right") {
    const ScratchFolder folder;
    Recording recording;
    recording.data_path = folder.put("some.bin", std::string("\x01\x00\x00\xff\xff\xff\x02\x00\x00", 9));
    recording.integers = {.bytes = 3, .bits = 24};
    recording.samples = 5;
    RecordingReader reader(recording);
    std::vector<float> read(10);
    CHECK(reader.read(std::as_writable_bytes(std::span(read))) == 8);
    CHECK(read[0] * 8388608.0F == 1.0F);
    CHECK(read[1] * 8388608.0F == -1.0F);
    CHECK(reader.missing_samples() == 4);
}

}  // namespace tidemill::io

#include "tidemill/io/recording_reader.hpp"

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

}  // namespace tidemill::io

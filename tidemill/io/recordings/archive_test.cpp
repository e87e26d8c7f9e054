#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/io/files/tar_index.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recordings/digest_check.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/io/recordings/wav_header.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::io {
namespace {

std::string samples_of(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 7);
    return text;
}

constexpr const char* kMetadata =
    R"({"global": {"core:datatype": "ci16_le", "core:sample_rate": 2e6, "core:version": "1.2.0"}, "captures": [{"core:sample_start": 0}]})";

// As the system's tar makes it, in one of its formats.
std::filesystem::path made_archive(const ScratchFolder& folder, const char* format, const std::string& name) {
    std::filesystem::create_directories(folder / name);
    const auto inside = [&](const char* ending) { return name + "/" + name + ending; };
    folder.put(inside(".sigmf-meta"), kMetadata);
    folder.put(inside(".sigmf-data"), samples_of(4001));
    const std::string command = fmt::format("tar --format={} -C '{}' -cf '{}' '{}'", format,
                                            (folder / "").string(), (folder / "made.sigmf").string(), name);
    REQUIRE(std::system(command.c_str()) == 0);
    return folder / "made.sigmf";
}

std::string read_all(const std::filesystem::path& path, const RecordingHints& hints = {}) {
    RecordingReader reader(open_recording(path, hints));
    std::string all(10000, '\0');
    all.resize(reader.read(std::as_writable_bytes(std::span(all))));
    return all;
}

std::string little(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
    return text;
}

std::string wav(unsigned kind, unsigned channels, unsigned bits, const std::string& data,
                bool extensible = false) {
    const unsigned frame = channels * bits / 8;
    std::string format = little(extensible ? 0xfffe : kind, 2) + little(channels, 2) + little(48000, 4) +
                         little(48000 * frame, 4) + little(frame, 2) + little(bits, 2);
    if (extensible)
        format += little(22, 2) + little(bits, 2) + little(3, 4) + little(kind, 2) + samples_of(14);
    const std::string odd = "auxi" + little(3, 4) + "abc" + std::string(1, '\0');
    const std::string chunks =
        "WAVE" + odd + "fmt " + little(format.size(), 4) + format + "data" + little(data.size(), 4) + data;
    return "RIFF" + little(chunks.size(), 4) + chunks;
}

}  // namespace

TEST_CASE("archive: a SigMF recording is read out of a tar archive of any format, long names too") {
    for (const char* format : {"ustar", "gnu", "pax", "v7"}) {
        CAPTURE(format);
        const ScratchFolder folder;
        const bool long_names = format == std::string("gnu") || format == std::string("pax");
        const std::string name = long_names ? std::string(120, 'n') : "name";
        const auto path = made_archive(folder, format, name);
        const Recording recording = open_recording(path);
        CHECK(recording.format == dsp::SampleFormat::ci16);
        CHECK(recording.sample_rate_hz == 2e6);
        CHECK(recording.samples == 1000);
        CHECK(recording.trailing_bytes == 1);
        CHECK(read_all(path) == samples_of(4000));
    }
}

TEST_CASE("archive: of several recordings one is named, and what macOS puts beside files is none") {
    const ScratchFolder folder;
    for (const std::string name : {"a", "b", "._a"}) {
        folder.put(name + ".sigmf-meta", name == "._a" ? "no JSON" : kMetadata);
        folder.put(name + ".sigmf-data", samples_of(name == "b" ? 40 : 400));
    }
    const auto packed = [&](const std::string& names) {
        const std::string command =
            fmt::format("cd '{}' && tar cf two.sigmf {}", (folder / "").string(), names);
        REQUIRE(std::system(command.c_str()) == 0);
        return folder / "two.sigmf";
    };
    CHECK(open_recording(packed("./._a.sigmf-meta ./._a.sigmf-data a.sigmf-meta a.sigmf-data")).samples ==
          100);
    const auto two = packed("._a.sigmf-meta a.sigmf-meta a.sigmf-data b.sigmf-meta b.sigmf-data");
    CHECK_THROWS_WITH_AS(open_recording(two), doctest::Contains("2 recordings: a, b"), IoError);
    CHECK(open_recording(two / "a").samples == 100);
    CHECK(open_recording(two / "b").samples == 10);
    CHECK(open_recording(two / "b.sigmf-meta").samples == 10);
    CHECK_THROWS_WITH_AS(open_recording(two / "c"), doctest::Contains("2 recordings: a, b"), IoError);
}

TEST_CASE("archive: one without a recording, or cut off, is refused with a reason") {
    const ScratchFolder folder;
    const auto path = made_archive(folder, "ustar", "name");
    const std::string whole = ScratchFolder::content_of(path);
    CHECK_THROWS_AS(open_recording(folder.put("cut.sigmf", whole.substr(0, 2000))), IoError);
    CHECK_THROWS_AS(open_recording(folder.put("empty.sigmf", "")), IoError);
    CHECK_THROWS_AS(open_recording(folder.put("zero.sigmf", std::string(5120, '\0'))), IoError);
    CHECK_THROWS_AS(open_recording(folder.put("text.sigmf", std::string(5120, 'x'))), IoError);
    CHECK_THROWS_AS(open_recording(folder.put("other.tar", whole)), IoError);
}

TEST_CASE("archive and wav: any damage is refused or harmless, and nothing is read beyond the file") {
    const ScratchFolder folder;
    const std::string tar = ScratchFolder::content_of(made_archive(folder, "pax", std::string(120, 'n')));
    const std::string sound = wav(1, 2, 16, samples_of(400));
    std::mt19937_64 random(11);
    for (const auto& [name, whole] : {std::pair{"x.sigmf", tar}, std::pair{"x.wav", sound}}) {
        int refused = 0;
        for (int trial = 0; trial < 400; ++trial) {
            std::string damaged = whole.substr(0, random() % 3 ? whole.size() : random() % whole.size());
            const std::size_t reach = std::min<std::size_t>(damaged.size(), name[2] == 's' ? 4096 : 60);
            for (std::size_t i = 0; reach > 0 && i <= random() % 4; ++i) {
                damaged[random() % reach] = static_cast<char>(random());
            }
            const auto path = folder.put(name, damaged);
            try {
                const std::string read = read_all(path);
                CHECK(read.size() <= damaged.size());
            } catch (const IoError&) {
                ++refused;
            }
        }
        CHECK(refused > 50);
    }
}

TEST_CASE("recordings: of 2000 damaged headers none costs a sample in silence") {
    const ScratchFolder folder;
    const std::string data = samples_of(4000);
    const std::string archive = ScratchFolder::content_of(made_archive(folder, "ustar", "n"));
    const std::string plain = wav(1, 2, 16, data);
    const std::string head = plain.substr(0, plain.size() - data.size());
    const std::string sizes = little(0, 8) + little(data.size(), 8) + little(0, 8) + little(0, 4);
    const std::string long_head = "RF64" + little(0xffffffff, 4) + "WAVEds64" + little(28, 4) + sizes +
                                  head.substr(12, head.size() - 16) + little(0xffffffff, 4);
    struct Kind {
        std::string name, head, rest;
    };
    std::mt19937_64 random(12);
    int whole = 0, told = 0, refused = 0;
    for (const Kind& kind : {Kind{"a.wav", head, data},
                             {"b.wav", long_head, data},
                             {"c.wav", head, data + "LIST" + little(4, 4) + "abcd"},
                             {"d.sigmf", archive.substr(0, 512), archive.substr(512)}}) {
        for (int trial = 0; trial < 500; ++trial) {
            std::string damaged = kind.head;
            for (std::uint64_t times = 1 + random() % 3; times > 0; --times)
                damaged[random() % damaged.size()] = static_cast<char>(random());
            const auto path = folder.put(kind.name, damaged + kind.rest);
            CAPTURE(trial);
            try {
                const Recording recording = open_recording(path);
                const bool is_whole = recording.format == dsp::SampleFormat::ci16 &&
                                      read_all(path).starts_with(data) && recording.samples == 1000;
                whole += is_whole ? 1 : 0;
                told += recording.warnings.empty() ? 0 : 1;
                CHECK_MESSAGE((is_whole || !recording.warnings.empty()),
                              kind.name << recording.samples << " " << recording.data_offset);
            } catch (const IoError& error) {
                ++refused;
                CHECK(std::string(error.what()).size() > 20);
            }
        }
    }
    MESSAGE(whole << " whole, " << told << " with a warning, " << refused << " refused");
    CHECK(whole > 300);
    CHECK(told > 100);
}

TEST_CASE("wav: I and Q of every supported kind, plain and extensible, with other chunks around") {
    const ScratchFolder folder;
    const std::string data = samples_of(160);
    struct Kind {
        unsigned kind, bits;
        dsp::SampleFormat format;
    };
    for (const Kind& kind : {Kind{1, 8, dsp::SampleFormat::cu8},
                             {1, 16, dsp::SampleFormat::ci16},
                             {3, 32, dsp::SampleFormat::cf32},
                             {3, 64, dsp::SampleFormat::cf64}}) {
        for (const bool extensible : {false, true}) {
            const auto path = folder.put("iq.wav", wav(kind.kind, 2, kind.bits, data, extensible));
            const Recording recording = open_recording(path);
            CHECK(recording.format == kind.format);
            CHECK(recording.sample_rate_hz == 48000);
            CHECK(recording.warnings.empty());
            CHECK(read_all(path) == data);
        }
    }
}

TEST_CASE("wav: a file that its writer could not finish is read to its end, a shorter one with a warning") {
    const ScratchFolder folder;
    std::string unfinished = wav(1, 2, 16, samples_of(40));
    const std::size_t size_at = unfinished.size() - 44;
    unfinished.replace(size_at, 4, little(0xffffffff, 4));
    CHECK(open_recording(folder.put("live.wav", unfinished)).samples == 10);
    unfinished.replace(size_at, 4, little(4000, 4));
    CHECK(open_recording(folder.put("short.wav", unfinished)).warnings.size() == 1);
}

TEST_CASE("wav: integers of 32 bits are read, and the container counts, not the bits that are used") {
    const ScratchFolder folder;
    std::string data;
    for (int i = 0; i < 20; ++i) data += little(static_cast<std::uint32_t>(i << 24), 4);
    const Recording recording = open_recording(folder.put("a.wav", wav(1, 2, 32, data)));
    CHECK(recording.samples == 10);
    CHECK(recording.integers == StoredIntegers{.bytes = 4, .bits = 32});
    CHECK(recording.warnings.empty());
    std::string narrow = wav(1, 2, 16, data);
    const std::size_t bits_at = narrow.find("fmt ") + 8 + 14;
    narrow[bits_at] = 12;
    CHECK(open_recording(folder.put("b.wav", narrow)).format == dsp::SampleFormat::ci16);
}

TEST_CASE("wav: the file outweighs the length that its header says, and other chunks behind are no samples") {
    const ScratchFolder folder;
    const std::string data = samples_of(400);
    const std::string whole = wav(1, 2, 16, data);
    const std::string head = whole.substr(0, whole.size() - data.size() - 4);
    const auto samples_with = [&](std::uint64_t said, const std::string& behind) {
        const auto path = folder.put("a.wav", head + little(said, 4) + data + behind);
        return std::pair(open_recording(path).samples, open_recording(path).warnings.size());
    };
    using Found = std::pair<std::uint64_t, std::size_t>;
    CHECK(samples_with(400, "") == Found{100, 0});
    CHECK(samples_with(400, "LIST" + little(4, 4) + "abcd") == Found{100, 0});
    CHECK(samples_with(400, "x") == Found{100, 0});
    CHECK(samples_with(80, "") == Found{100, 1});  // of the moment at which its writer was killed
    CHECK(samples_with(80, "LIST") == Found{101, 1});
    CHECK(samples_with(0, "") == Found{100, 0});
    CHECK(samples_with(4000, "") == Found{100, 1});
}

TEST_CASE("wav: a chunk of odd size in front of the data is skipped, with its byte of padding and without") {
    const ScratchFolder folder;
    const std::string data = samples_of(400);
    const std::string whole = wav(1, 2, 16, data);
    const std::size_t at = whole.find("data");
    for (const std::string& padding : {std::string(1, '\0'), std::string(" "), std::string()}) {
        std::string odd = whole;
        odd.insert(at, "LIST" + little(5, 4) + "abcde" + padding);
        CHECK(open_recording(folder.put("a.wav", odd)).samples == 100);
    }
}

TEST_CASE("wav: sizes modulo 2^32 in a file of more are taken for what they are") {
    const ScratchFolder folder;
    const std::string whole = wav(1, 2, 16, samples_of(40));
    const std::string head = whole.substr(0, whole.size() - 40 - 4);
    const std::uint64_t bytes = (std::uint64_t{1} << 32) + 400;
    const auto path = folder.put("big.wav", head + little(400, 4));
    std::filesystem::resize_file(path, head.size() + 4 + bytes);  // sparse
    {
        std::ofstream file(path, std::ios::app | std::ios::binary);
        file << "LIST" << little(4, 4) << "abcd";
    }
    const Recording recording = open_recording(path);
    CHECK(recording.samples == bytes / 4);
    CHECK(recording.warnings.size() == 1);
}

TEST_CASE("wav: RF64, BW64 and Wave64 are read, those of a killed writer to their end") {
    const ScratchFolder folder;
    const std::string data = samples_of(400);
    const std::string format =
        little(1, 2) + little(2, 2) + little(48000, 4) + little(192000, 4) + little(4, 2) + little(16, 2);
    for (const std::string id : {"RF64", "BW64"}) {
        for (const std::uint64_t said : {400, 0, 80}) {
            CAPTURE(said);
            const std::string sizes = little(0, 8) + little(said, 8) + little(0, 8) + little(0, 4);
            const auto path =
                folder.put("a.wav", id + little(0xffffffff, 4) + "WAVEds64" + little(28, 4) + sizes + "fmt " +
                                        little(16, 4) + format + "data" + little(0xffffffff, 4) + data);
            CHECK(open_recording(path).samples == 100);
            CHECK(read_all(path) == data);
        }
    }
    const std::string guid = "\xf3\xac\xd3\x11\x8c\xd1" + std::string(6, 'g');
    const std::string chunks = "wave" + guid + "fmt " + guid + little(40, 8) + format + "data" + guid;
    const std::string riff = "riff" + std::string(12, 'r') + little(0, 8);
    for (const std::uint64_t said : {424, 0, 24, 104}) {
        const auto path = folder.put("a.w64", riff + chunks + little(said, 8) + data);
        CHECK(open_recording(path).samples == 100);
        CHECK(read_all(path) == data);
    }
    const auto path = folder.put(
        "b.w64", riff + chunks + little(424, 8) + data + "junk" + guid + little(32, 8) + "12345678");
    CHECK(open_recording(path).samples == 100);
    CHECK(open_recording(path).warnings.empty());
}

TEST_CASE("wav: parts of a header that contradict one another are warned of") {
    const ScratchFolder folder;
    std::string file = wav(1, 2, 16, samples_of(400));
    file[file.find("fmt ") + 8 + 5] ^= 1;  // of the rate
    CHECK(open_recording(folder.put("a.wav", file)).warnings.size() == 1);
}

TEST_CASE("wav: what is not a recording of I and Q is refused") {
    const ScratchFolder folder;
    const std::string data = samples_of(160);
    CHECK_THROWS_AS(open_recording(folder.put("mono.wav", wav(1, 1, 16, data))), IoError);
    CHECK_THROWS_AS(open_recording(folder.put("wide.wav", wav(1, 2, 20, data))), IoError);
    CHECK_THROWS_AS(open_recording(folder.put("law.wav", wav(6, 2, 8, data))), IoError);
    CHECK_THROWS_AS(open_recording(folder.put("text.wav", "hello, this is no sound")), IoError);
    CHECK_THROWS_AS(open_recording(folder.put("empty.wav", "")), IoError);
}

TEST_CASE("archive: one that zstd compressed is read as the one inside, a cut or damaged one is refused") {
    if (std::system("command -v zstd > /dev/null") != 0) {
        MESSAGE("skipped: zstd is not installed");
        return;
    }
    const ScratchFolder folder;
    const std::string archive = made_archive(folder, "ustar", "pass").string();
    const auto packed_as = [&](const char* name, const std::string& how) {
        const std::string path = (folder / name).string();
        REQUIRE(std::system(fmt::format(fmt::runtime(how), archive, path).c_str()) == 0);
        return path;
    };
    const std::string packed = packed_as("packed.sigmf.zst", "zstd -q '{}' -o '{}'");
    CHECK(read_all(packed) == samples_of(4000));
    CHECK(check_digest(open_recording(packed)).empty());
    RecordingReader reader(open_recording(packed));
    std::array<std::byte, 8> bytes{};
    for (const std::uint64_t sample : {900, 3, 500}) {  // there and back
        reader.seek(sample);
        CHECK(reader.read(bytes) == 8);
        CHECK(std::memcmp(bytes.data(), samples_of(4000).data() + 4 * sample, 8) == 0);
    }
    const std::string cut = packed_as("cut.sigmf.zst", "zstd -q '{}' -c | head -c 90 > '{}'");
    CHECK_THROWS_WITH_AS(open_recording(cut), doctest::Contains("is cut off"), IoError);
    const std::string plain = packed_as("plain.sigmf.zst", "cp '{}' '{}'");
    CHECK_THROWS_WITH_AS(open_recording(plain), doctest::Contains("is no zstd file"), IoError);
    const std::string short_archive = packed_as("short.sigmf.zst", "head -c 3000 '{}' | zstd -q -o '{}'");
    CHECK_THROWS_WITH_AS(open_recording(short_archive), doctest::Contains("not a usable tar archive"),
                         IoError);
}

}  // namespace tidemill::io

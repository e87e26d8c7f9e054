#include "tidemill/io/recordings/recording.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/io/recordings/sigmf.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::io {
namespace {

using dsp::SampleFormat;

std::string metadata(std::string_view datatype, std::string_view more = "",
                     std::string_view captures = "[{}]") {
    return fmt::format(R"({{"global": {{"core:datatype": "{}" {}}}, "captures": {}}})", datatype, more,
                       captures);
}

// Message of open_recording(), or nothing.
std::string complaint(const std::filesystem::path& path, const RecordingHints& hints = {}) {
    try {
        open_recording(path, hints);
    } catch (const IoError& error) {
        return error.what();
    }
    return "";
}

std::vector<dsp::Iq> samples_of(const Recording& recording) {
    std::vector<dsp::Iq> samples(recording.samples);
    RecordingReader(recording).read(std::as_writable_bytes(std::span(samples)));
    return samples;
}

bool mentions(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

bool warns(const Recording& recording, std::string_view part) {
    return std::ranges::any_of(recording.warnings,
                               [&](const auto& warning) { return mentions(warning, part); });
}

}  // namespace

TEST_CASE("recording: SigMF is found by the name of either file and by both without extension") {
    const ScratchFolder folder;
    folder.put("pass.2.sigmf-meta",
               metadata("ci16_le", R"(, "core:sample_rate": 2e6)", R"([{"core:frequency": 1.2e9}])"));
    folder.put("pass.2.sigmf-data", std::string(40, 'x'));
    for (const auto* name : {"pass.2.sigmf-meta", "pass.2.sigmf-data", "pass.2"}) {
        const auto recording = open_recording(folder / name);
        CHECK(recording.data_path == folder / "pass.2.sigmf-data");
        CHECK(recording.format == SampleFormat::ci16);
        CHECK(recording.samples == 10);
        CHECK(recording.sample_rate_hz == 2e6);
        CHECK(recording.center_frequency_hz == 1.2e9);
        CHECK(recording.warnings.empty());
    }
}

TEST_CASE("recording: raw samples are known by their extension or by what the user says") {
    const ScratchFolder folder;
    const std::string data(16, 'x');
    CHECK(open_recording(folder.put("a.cf32", data)).samples == 2);
    CHECK(open_recording(folder.put("a.cfile", data)).samples == 2);
    CHECK(open_recording(folder.put("a.ci16", data)).samples == 4);
    CHECK(open_recording(folder.put("a.cs16", data)).samples == 4);
    CHECK(open_recording(folder.put("a.ci8", data)).samples == 8);
    CHECK(open_recording(folder.put("a.cs8", data)).format == SampleFormat::ci8);
    CHECK(open_recording(folder.put("a.cu8", data)).format == SampleFormat::cu8);
    CHECK(!open_recording(folder / "a.cu8").sample_rate_hz);
    const auto told = open_recording(folder.put("a.bin", data), {SampleFormat::ci16, 5e5});
    CHECK(told.samples == 4);
    CHECK(told.sample_rate_hz == 5e5);
    CHECK(mentions(complaint(folder / "a.bin"), "format"));
}

TEST_CASE("recording: what cannot be read is refused with the path and the reason") {
    const ScratchFolder folder;
    CHECK(mentions(complaint(folder / "nothing.ci8"), "No such file"));
    CHECK(mentions(complaint(folder / "nothing.sigmf-meta"), "No such file"));
    CHECK(mentions(complaint(folder / "nothing"), "No such file"));
    CHECK(mentions(complaint(folder.put("empty.ci8", "")), "empty"));
    CHECK(mentions(complaint(folder.put("one.ci16", "abc")), "not one sample"));
    CHECK(mentions(complaint(folder.put("lonely.sigmf-data", "abcd")), "lonely.sigmf-meta"));
    CHECK(mentions(complaint(folder.put("lost.sigmf-meta", metadata("ci8"))), "lost.sigmf-data"));
    CHECK(mentions(complaint(folder.put("pass.sigmf", "abc")), "tar"));
    std::filesystem::create_directory(folder / "folder.ci8");
    CHECK(mentions(complaint(folder / "folder.ci8"), "not a regular file"));
    CHECK(mentions(complaint("/dev/zero", {SampleFormat::ci8, {}}), "not a regular file"));
}

TEST_CASE("recording: unusable metadata are refused by what is wrong in them") {
    const ScratchFolder folder;
    folder.put("r.sigmf-data", std::string(64, 'x'));
    const auto complaint_about = [&](const std::string& text) {
        return complaint(folder.put("r.sigmf-meta", text));
    };
    CHECK(mentions(complaint_about(""), "not valid JSON"));
    CHECK(mentions(complaint_about(R"({"global": )"), "not valid JSON"));
    CHECK(mentions(complaint_about("[1, 2]"), "global"));
    CHECK(mentions(complaint_about(R"({"global": 7})"), "global"));
    CHECK(mentions(complaint_about(R"({"global": {}})"), "supported are cf32"));
    CHECK(mentions(complaint_about(R"({"global": {"core:datatype": 5}})"), "core:datatype"));
    CHECK(mentions(complaint_about(metadata("rf32_le")), "rf32_le"));
    CHECK(mentions(complaint_about(metadata("ri32_le")), "not I and Q"));
    CHECK(mentions(complaint_about(metadata("cf16_le")), "cf16_le"));
    for (const auto* rate : {"0", "-2e6", "1e15", "1e-9"}) {
        const auto text = complaint_about(metadata("ci8", fmt::format(R"(, "core:sample_rate": {})", rate)));
        CHECK(mentions(text, "sample rate"));
    }
    CHECK(mentions(complaint_about(metadata("ci8", R"(, "core:sample_rate": "fast")")), "core:sample_rate"));
    CHECK(mentions(complaint_about(metadata("ci8", R"(, "core:sample_rate": 1e999)")), "not valid JSON"));
    CHECK(mentions(complaint_about(metadata("ci8", R"(, "core:num_channels": 2)")), "channels"));
    CHECK(mentions(complaint_about(metadata("ci8", R"(, "core:dataset": "../../etc/passwd")")),
                   "core:dataset"));
    CHECK(mentions(complaint_about(metadata("ci8", "", "[3]")), "captures"));
    CHECK(mentions(complaint_about(metadata("ci8", "", R"([{"core:sample_start": -1}])")),
                   "core:sample_start"));
    CHECK(mentions(complaint_about(metadata("ci8", "", R"([{"core:header_bytes": -4}])")),
                   "core:header_bytes"));
    CHECK(mentions(complaint_about(metadata("ci8", "", R"([{"core:sample_start": 0.5}])")),
                   "core:sample_start"));
    CHECK(mentions(complaint_about(metadata("ci8", "", R"([{"core:frequency": 1e9},
        {"core:sample_start": 10, "core:frequency": 2e9}])")),
                   "from sample 10 on, 2000000000 Hz"));
    CHECK(mentions(complaint_about(std::string(1000000, '[')), "nested more than 64 deep"));
    CHECK(mentions(complaint_about(std::string(17 << 20, '[')), "16 MiB"));
    for (const char* text : {"", "{", "[1", R"({"global": {"core:datatype": 1e999}})"})
        CHECK(!mentions(complaint_about(text), "exception"));
}

TEST_CASE(
    "recording: SigMF's integers are read as cf32, and an order of bytes that is not named is warned of") {
    const ScratchFolder folder;
    folder.put("r.sigmf-data", std::string("\0\0\0\x40\0\0\0\xc0", 8));
    folder.put("r.sigmf-meta", metadata("ci32_le"));
    CHECK(samples_of(open_recording(folder / "r")) == std::vector<dsp::Iq>{{0.5F, -0.5F}});
    folder.put("r.sigmf-meta", metadata("cu16_be"));
    CHECK(open_recording(folder / "r").samples == 2);
    folder.put("r.sigmf-meta", metadata("ci16"));
    CHECK(warns(open_recording(folder / "r"), "no order of bytes"));
    folder.put("r.sigmf-meta", metadata("ci8_le"));
    CHECK(open_recording(folder / "r").format == SampleFormat::ci8);
    folder.put("r.sigmf-meta", metadata("ci32_le"));
    CHECK(open_recording(folder / "r", {SampleFormat::cf32, {}}).integers == StoredIntegers{});
}

TEST_CASE("recording: bytes before the samples of captures, and behind all of them, are none") {
    const ScratchFolder folder;
    folder.put("some.bin", "HHHHaabbHHccddeeTT");
    folder.put(
        "r.sigmf-meta",
        metadata("ci8", R"(, "core:dataset": "some.bin", "core:trailing_bytes": 2.0, "core:offset": 7)",
                 R"([{"core:sample_start": 7.0, "core:header_bytes": 4},
                            {"core:sample_start": 9, "core:header_bytes": 2}])"));
    Recording recording = open_recording(folder / "r");
    CHECK(recording.samples == 5);
    CHECK(recording.trailing_bytes == 0);
    CHECK(recording.dataset_bytes == 18);
    const auto read = [&] {
        std::string text(2 * recording.samples, '.');
        text.resize(RecordingReader(recording).read(std::as_writable_bytes(std::span(text))));
        return text;
    };
    CHECK(read() == "aabbccddee");
    keep_part(recording, 1, 3);
    CHECK(read() == "bbccdd");
    recording = open_recording(folder / "r");
    keep_part(recording, 3, 2);
    CHECK(read() == "ddee");
}

TEST_CASE("recording: a collection of one recording is read, of several it lists them") {
    const ScratchFolder folder;
    folder.put("a.sigmf-data", std::string(64, 'x'));
    folder.put("a.sigmf-meta", metadata("ci8"));
    const auto collection = [&](const std::string& streams) {
        return folder.put("all.sigmf-collection",
                          R"({"collection": {"core:version": "1.2.0", "core:streams": [)" + streams + "]}}");
    };
    CHECK(open_recording(collection(R"({"name": "a", "hash": "0"})")).samples == 32);
    const std::string several = complaint(collection(R"({"name": "a"}, {"name": "b"})"));
    CHECK(mentions(several, "2 recordings: a, b"));
    CHECK(mentions(several, "a.sigmf-meta"));
    CHECK(mentions(complaint(collection("")), "names no recordings"));
    CHECK(mentions(complaint(collection(R"({"name": "../a"})")), "beside it"));
    CHECK(mentions(complaint(collection("7")), "collection"));
}

TEST_CASE("recording: a hundred thousand odd captures make one warning, not one each") {
    const ScratchFolder folder;
    folder.put("r.sigmf-data", std::string(64, 'x'));
    std::string captures = R"([{"core:sample_start": 10})";
    for (int i = 0; i < 100'000; ++i) captures += ", {}";
    folder.put("r.sigmf-meta", metadata("ci8", "", captures + "]"));
    const auto recording = open_recording(folder / "r");
    CHECK(recording.warnings.size() == 3);
    CHECK(warns(recording, "not in order of time"));
    CHECK(warns(recording, "100001 captures"));
}

TEST_CASE("recording: what is odd but harmless becomes a warning") {
    const ScratchFolder folder;
    folder.put("r.sigmf-data", std::string(43, 'x'));
    folder.put("r.sigmf-meta", metadata("ci16_le", "", R"([{}, {"core:sample_start": 10}])"));
    const auto recording = open_recording(folder / "r");
    CHECK(recording.samples == 10);
    CHECK(recording.trailing_bytes == 3);
    CHECK(warns(recording, "the last sample is cut off, and not read: 3 of its 4 bytes are there"));
    CHECK(warns(recording, "do not give a sample rate"));
    CHECK(warns(recording, "2 captures"));
    CHECK(warns(recording, "truncated"));
}

TEST_CASE("recording: what the user says outweighs the metadata, with a warning") {
    const ScratchFolder folder;
    folder.put("r.sigmf-data", std::string(40, 'x'));
    folder.put("r.sigmf-meta", metadata("ci16_le", R"(, "core:sample_rate": 1e6)"));
    const auto recording = open_recording(folder / "r", {SampleFormat::ci8, 2e6});
    CHECK(recording.samples == 20);
    CHECK(recording.sample_rate_hz == 2e6);
    CHECK(warns(recording, "read as ci8"));
    CHECK(warns(recording, "2000000"));
}

TEST_CASE("sigmf: no damage to the metadata does more than cause an IoError") {
    const auto good =
        metadata("ci8", R"(, "core:sample_rate": 2e6, "core:sha512": "ab")", R"([{"core:frequency": 1}])");
    CHECK(rc::check("one replaced or removed byte", [&] {
        auto text = good;
        const auto place = *rc::gen::inRange<std::size_t>(0, text.size());
        if (*rc::gen::arbitrary<bool>()) {
            text[place] = *rc::gen::arbitrary<char>();
        } else {
            text.erase(place, *rc::gen::inRange<std::size_t>(1, 9));
        }
        try {
            RC_ASSERT(parse_sigmf(text, "x").sample_rate_hz.value_or(1) >= 1);
        } catch (const IoError&) {
            RC_SUCCEED("refused");
        }
    }));
}

TEST_CASE("sigmf: written metadata read back the same") {
    for (const auto format : {SampleFormat::cf32, SampleFormat::ci16, SampleFormat::ci8, SampleFormat::cu8}) {
        SigmfMetadata written;
        written.format = format;
        written.sample_rate_hz = 2.5e6;
        written.center_frequency_hz = 1.2e9;
        written.symbol_rate_hz = 333e3;
        written.sha512 = "0123";
        written.description = "a \"test\"";
        const auto read = parse_sigmf(format_sigmf(written), "x");
        CHECK(read.format == format);
        CHECK(read.sample_rate_hz == written.sample_rate_hz);
        CHECK(read.center_frequency_hz == written.center_frequency_hz);
        CHECK(read.symbol_rate_hz == written.symbol_rate_hz);
        CHECK(read.sha512 == written.sha512);
        CHECK(read.description == written.description);
        CHECK(read.warnings.empty());
    }
}

TEST_CASE("recordings of radio programs are read by what their names and headers tell") {
    const ScratchFolder folder;
    folder.put("gqrx_20230405_120000_741500000_2400000_fc.raw", std::string(16, 'a'));
    const auto gqrx = open_recording(folder / "gqrx_20230405_120000_741500000_2400000_fc.raw");
    CHECK(gqrx.format == dsp::SampleFormat::cf32);
    CHECK(gqrx.sample_rate_hz == 2.4e6);
    CHECK(gqrx.center_frequency_hz == 741.5e6);
    const unsigned char header[] = {0x00, 0x9f, 0x24, 0x00, 0x60, 0x64, 0x32, 0x2c, 0x00, 0x00, 0x00,
                                    0x00, 0x00, 0x10, 0x5e, 0x5f, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00,
                                    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x6a, 0x61, 0x15, 0x7f};
    std::string sdriq(reinterpret_cast<const char*>(header), sizeof header);
    folder.put("pass.sdriq", sdriq + "12345678");
    const auto sdrangel = open_recording(folder / "pass.sdriq");
    CHECK(sdrangel.format == dsp::SampleFormat::ci16);
    CHECK(sdrangel.samples == 2);
    CHECK(sdrangel.data_offset == 32);
    CHECK(sdrangel.sample_rate_hz == 2.4e6);
    CHECK(sdrangel.center_frequency_hz == 741.5e6);
    // The same with 24 bits, as a CRC of zlib has it.
    std::string wide = sdriq;
    wide[20] = 24;
    wide.replace(28, 4, std::string("\xdf\x7a\xf0\xac", 4));
    folder.put("wide.sdriq", wide + std::string("\0\0\x40\0\0\0\xc0\xff", 8));
    const auto wide24 = open_recording(folder / "wide.sdriq");
    CHECK(wide24.format == dsp::SampleFormat::cf32);
    CHECK(wide24.samples == 1);
    CHECK(samples_of(wide24) == std::vector<dsp::Iq>{{0.5F, -0.5F}});
    sdriq[5] ^= 1;
    folder.put("damaged.sdriq", sdriq + "12345678");
    CHECK_THROWS_WITH_AS(open_recording(folder / "damaged.sdriq"), doctest::Contains("check sum"), IoError);
    folder.put("short.sdriq", "1234");
    CHECK_THROWS_WITH_AS(open_recording(folder / "short.sdriq"), doctest::Contains("ends in its header"),
                         IoError);
    folder.put("pass.iq", std::string(16, 'a'));
    CHECK_THROWS_WITH_AS(open_recording(folder / "pass.iq"), doctest::Contains("say the format"), IoError);
    CHECK(open_recording(folder / "pass.iq", {.format = dsp::SampleFormat::cu8, .sample_rate_hz = {}})
              .samples == 8);
}

TEST_CASE("a WAV file's auxi chunk tells the radio's frequency") {
    const ScratchFolder folder;
    const auto wav = [](const std::string& auxi) {
        const auto word = [](std::uint32_t value) {
            return std::string{static_cast<char>(value), static_cast<char>(value >> 8),
                               static_cast<char>(value >> 16), static_cast<char>(value >> 24)};
        };
        const std::string format = word(0x00020001) + word(2400000) + word(9600000) + word(0x00100004);
        return "RIFF" + word(0) + "WAVEfmt " + word(16) + format + "auxi" +
               word(static_cast<std::uint32_t>(auxi.size())) + auxi + "data" + word(8) + "12345678";
    };
    std::string auxi(68, '\0');
    auxi.replace(32, 4, {'\x60', '\x64', '\x32', '\x2c'});
    folder.put("a.wav", wav(auxi));
    CHECK(open_recording(folder / "a.wav").center_frequency_hz == 741.5e6);
    std::string deep = wav(auxi);
    deep[34] = 24;  // bits of a number
    deep.replace(deep.size() - 8, 8, std::string("\0\0\x40\0\0\xc0\xff\xff", 8));
    folder.put("deep.wav", deep);
    const auto deep24 = open_recording(folder / "deep.wav");
    CHECK(deep24.trailing_bytes == 2);
    CHECK(samples_of(deep24) == std::vector<dsp::Iq>{{0.5F, -0.5F}});
    folder.put("b_741500kHz_RF.wav", wav("<xml/>"));
    CHECK(open_recording(folder / "b_741500kHz_RF.wav").center_frequency_hz == 741.5e6);
    folder.put("c.wav", wav(auxi.substr(0, 40)));
    CHECK(!open_recording(folder / "c.wav").center_frequency_hz);
}

TEST_CASE("of two statements about a recording one counts by a rule, with a warning") {
    const ScratchFolder folder;
    const auto word = [](std::uint32_t value) {
        return std::string{static_cast<char>(value), static_cast<char>(value >> 8),
                           static_cast<char>(value >> 16), static_cast<char>(value >> 24)};
    };
    const auto wav = [&](std::uint32_t frequency_hz) {
        const std::string auxi = std::string(32, '\0') + word(frequency_hz) + std::string(32, '\0');
        return "RIFF" + word(0) + "WAVEfmt " + word(16) + word(0x00020001) + word(2400000) + word(9600000) +
               word(0x00100004) + "auxi" + word(68) + auxi + "data" + word(8) + "12345678";
    };
    const auto opened = [&](const char* name, std::uint32_t frequency_hz) {
        return open_recording(folder.put(name, wav(frequency_hz)));
    };
    const std::uint32_t wrapped = 10491500000 % (std::uint64_t{1} << 32);
    CHECK(opened("a_10491.5MHz.wav", wrapped).center_frequency_hz == 10491.5e6);
    CHECK(opened("a_10491.5MHz.wav", wrapped).warnings.empty());
    CHECK(opened("a_10491.5MHz.wav", 741500000).center_frequency_hz == 10491.5e6);
    CHECK(warns(opened("a_10491.5MHz.wav", 741500000), "the name counts"));
    CHECK(opened("a_700MHz.wav", 741500000).center_frequency_hz == 741.5e6);
    CHECK(warns(opened("a_700MHz.wav", 741500000), "the header counts"));
    CHECK(warns(opened("a_1MSPS.wav", 0), "the header counts"));
    CHECK(warns(open_recording(folder.put("a_1MSPS.cs16", "12345678"), {.format = {}, .sample_rate_hz = 2e6}),
                "its name says 1000000 Hz"));
    CHECK(open_recording(folder.put("a.cf32", wav(0))).format == SampleFormat::ci16);  // which it is none of
    CHECK(mentions(complaint(folder.put("._a.wav2", "x")), "macOS"));
}

TEST_CASE("what GNU Radio's file meta sink wrote is read, its headers left out") {
    const auto big = [](std::uint64_t value, int bytes) {
        std::string text;
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
        return text;
    };
    const auto entry = [](const std::string& key, const std::string& value) {
        return std::string("\x07\x07\x02\0", 4) + static_cast<char>(key.size()) + key + value;
    };
    const auto number = [&](double value) { return "\x04" + big(std::bit_cast<std::uint64_t>(value), 8); };
    const auto header = [&](std::uint64_t bytes, double rate_hz, double frequency_hz, bool is_complex) {
        const std::string extra = entry("rx_freq", number(frequency_hz)) + "\x06";
        const std::string time = std::string("\x0c\0\0\0\2", 5) + "\x0b" + big(0, 8) + number(0);
        return entry("bytes", "\x0b" + big(bytes, 8)) + entry("strt", "\x0b" + big(149 + extra.size(), 8)) +
               entry("cplx", std::string(1, is_complex ? '\0' : '\1')) + entry("type", "\x03" + big(1, 4)) +
               entry("size", "\x03" + big(4, 4)) + entry("rx_time", time) +
               entry("rx_rate", number(rate_hz)) + entry("version", "\x03" + big(0, 4)) + "\x06" + extra;
    };
    const ScratchFolder folder;
    const auto read = [](const Recording& recording) {
        std::string text(4 * recording.samples, '.');
        text.resize(RecordingReader(recording).read(std::as_writable_bytes(std::span(text))));
        return text;
    };
    const std::string whole = header(8, 1e6, 7e6, true) + "aaaabbbb" + header(4, 1e6, 7e6, true) + "cccc";
    REQUIRE(header(8, 1e6, 7e6, true).size() == 149 + 22);
    const Recording recording = open_recording(folder.put("a.dat", whole));
    CHECK(recording.format == SampleFormat::ci16);
    CHECK(recording.sample_rate_hz == 1e6);
    CHECK(recording.center_frequency_hz == 7e6);
    CHECK(recording.warnings.empty());
    CHECK(read(recording) == "aaaabbbbcccc");
    const std::string killed =
        header(8, 1e6, 7e6, true) + "aaaabbbb" + header(0, 1e6, 7e6, true) + "ccccdddd";
    CHECK(read(open_recording(folder.put("a.dat", killed))) == "aaaabbbbccccdddd");
    CHECK(warns(open_recording(folder.put("a.dat", header(80, 1e6, 7e6, true) + "aaaa")), "more samples"));
    CHECK(warns(open_recording(folder.put("a.dat", whole + "damaged")), "no header"));
    CHECK(
        mentions(complaint(folder.put("a.dat", whole + header(4, 1e6, 8e6, true) + "dddd")), "another rate"));
    CHECK(mentions(complaint(folder.put("a.dat", header(4, 1e6, 7e6, false) + "aaaa")), "real numbers"));
}

TEST_CASE("compressed raw samples are read as those inside, cut or damaged ones refused") {
    const ScratchFolder folder;
    std::string samples;
    for (int i = 0; i < 40000; ++i) samples += static_cast<char>(i * i >> 5);
    const std::string plain = folder.put("a.cs16", samples).string();
    for (const auto& [program, extension] :
         {std::pair{"gzip", ".gz"}, {"xz", ".xz"}, {"bzip2", ".bz2"}, {"zstd", ".zst"}}) {
        CAPTURE(extension);
        if (std::system(fmt::format("command -v {} > /dev/null", program).c_str()) != 0) {
            MESSAGE("skipped: there is no such program");
            continue;
        }
        const std::string packed = plain + extension;
        REQUIRE(std::system(fmt::format("{} -c < '{}' > '{}'", program, plain, packed).c_str()) == 0);
        RecordingReader reader(open_recording(packed));
        CHECK(reader.recording().samples == 10000);
        for (const std::uint64_t sample : {9000U, 3U, 0U}) {  // there and back
            reader.seek(sample);
            std::string read(4 * (10000 - sample), '.');
            CHECK(reader.read(std::as_writable_bytes(std::span(read))) == read.size());
            CHECK(read == samples.substr(4 * sample));
        }
        const std::string whole = ScratchFolder::content_of(packed);
        CHECK(mentions(
            complaint(folder.put("cut.cs16" + std::string(extension), whole.substr(0, whole.size() / 2))),
            "cut"));
        CHECK_FALSE(complaint(folder.put("plain.cs16" + std::string(extension), samples)).empty());
    }
    CHECK(mentions(complaint(folder / "none.cs16.gz"), "No such file"));
    CHECK(mentions(complaint(folder.put("a.wav.gz", "x"), {SampleFormat::cf32, {}}), "unpack it first"));
}

TEST_CASE("sample rates that make no sense are refused with the range") {
    const ScratchFolder folder;
    for (const double rate_hz : {0.5, 1e12, -3.0}) {
        CAPTURE(rate_hz);
        CHECK_THROWS_WITH_AS(
            open_recording(folder.put("a.ci16", "12345678"), {.format = {}, .sample_rate_hz = rate_hz}),
            doctest::Contains("from 1 to 100000000000"), IoError);
    }
    CHECK(open_recording(folder.put("a.ci16", "12345678"), {.format = {}, .sample_rate_hz = 1.0}).samples ==
          2);
}

}  // namespace tidemill::io

#include "tidemill/dvbs2/send/signal_writer.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::dvbs2 {
namespace {

std::vector<std::uint8_t> null_packets(std::size_t count) {
    std::vector<std::uint8_t> bytes(count * io::kTsPacketBytes, 0xff);
    for (std::size_t at = 0; at < bytes.size(); at += io::kTsPacketBytes) {
        bytes[at] = io::kTsSyncByte;
        bytes[at + 1] = 0x1f;
    }
    return bytes;
}

SignalConfig short_qpsk() {
    SignalConfig config;
    config.transmitter.pls = {10, FrameSize::short_, true};
    config.channel.esn0_db = 7.5;
    config.frames = 12;
    return config;
}

}  // namespace

TEST_CASE("signal writer: the recording has the frames, rate and level that were asked for") {
    const ScratchFolder folder;
    auto config = short_qpsk();
    config.channel.lead_samples = 1000;
    config.channel.rate_ratio = 1.35;
    const auto written = write_signal(config, null_packets(10), folder / "s.sigmf-meta");
    CHECK(written.frames >= 12);
    CHECK(written.limited_samples < written.samples / 1000);
    const auto recording = io::open_recording(folder / "s");
    CHECK(recording.warnings.empty());
    CHECK(recording.sample_rate_hz == 2.7e6);
    CHECK(recording.samples == written.samples);
    CHECK(static_cast<double>(written.samples) >= 2.7 * 8370 * static_cast<double>(written.frames) + 1000);
    io::RecordingReader reader(recording);
    std::vector<std::byte> bytes(2 * recording.samples);
    reader.read(bytes);
    std::vector<dsp::Iq> samples(recording.samples);
    dsp::convert_samples(recording.format, bytes, samples);
    double power = 0;
    for (const auto sample : samples) {
        power += std::norm(sample);
    }
    CHECK(10.0 * std::log10(power / static_cast<double>(samples.size())) ==
          doctest::Approx(-12.0).epsilon(0.02));
}

TEST_CASE("signal writer: the same seed gives the same recording") {
    const ScratchFolder folder;
    const auto config = short_qpsk();
    write_signal(config, null_packets(7), folder / "a");
    write_signal(config, null_packets(7), folder / "b");
    CHECK(io::open_recording(folder / "a").sha512 == io::open_recording(folder / "b").sha512);
    auto other = config;
    other.channel.seed = 2;
    write_signal(other, null_packets(7), folder / "c");
    CHECK(io::open_recording(folder / "a").sha512 != io::open_recording(folder / "c").sha512);
}

TEST_CASE("signal writer: an unwritable path, an impossible rate and an empty stream are errors") {
    CHECK_THROWS_AS(write_signal(short_qpsk(), null_packets(1), "/nowhere/s"), io::IoError);
    CHECK_THROWS_AS(write_signal(short_qpsk(), {}, "/dev/null"), Dvbs2Error);
    auto config = short_qpsk();
    config.symbol_rate_hz = 0.0;
    CHECK_THROWS_AS(write_signal(config, null_packets(1), "/dev/null"), Dvbs2Error);
}

}  // namespace tidemill::dvbs2

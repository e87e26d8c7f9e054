#include "tidemill/io/recordings/recording_name.hpp"

#include <string>

#include <doctest/doctest.h>

namespace tidemill::io {

TEST_CASE("recording name: names as programs for radios write them tell format, rate and frequency") {
    using enum dsp::SampleFormat;
    struct Case {
        const char* name;
        std::optional<dsp::SampleFormat> format;
        std::optional<double> rate, frequency;
    };
    for (const Case& c : {Case{"gqrx_20230405_120000_741500000_2400000_fc.raw", cf32, 2400000, 741.5e6},
                          {"baseband_741500000Hz_12-30-00_01-02-2023.wav", {}, {}, 741.5e6},
                          {"SDRSharp_20150101_120000Z_741500000Hz_IQ.wav", {}, {}, 741.5e6},
                          {"HDSDR_20150101_120000Z_741500kHz_RF.wav", {}, {}, 741.5e6},
                          {"2023-01-01_12-00-00-000_2400000SPS_741500000Hz.cs16", ci16, 2.4e6, 741.5e6},
                          {"pass 2.4MSPS 741.5MHz.fc32", cf32, 2.4e6, 741.5e6},
                          {"a.sc16", ci16, {}, {}},
                          {"a.iq", {}, {}, {}},
                          {"2400000.cu8", cu8, {}, {}},
                          {"gqrx_1_2_3.raw", {}, {}, {}},
                          {"x_0SPS_1e9Hz_5e9Hz_nanHz.dat", {}, {}, {}},
                          {"a.S16", ci16, {}, {}},
                          {"a.f32", cf32, {}, {}},
                          {"a.s8", ci8, {}, {}},
                          {"a.u8", cu8, {}, {}},
                          {"a.C16", ci16, {}, {}},
                          {"a.c8", ci8, {}, {}},
                          {"a.complex16s", ci8, {}, {}},
                          {"a.complex32s", ci16, {}, {}},
                          {"a.sc16q11", ci16, {}, {}},
                          {"a.s32", cf32, {}, {}},
                          {"2400000SPS_741500000Hz.cs16.gz", ci16, 2.4e6, 741.5e6},
                          {"a.CF32.xz", cf32, {}, {}},
                          {"a.zst", {}, {}, {}},
                          {"g001_433.92M_250k.cu8", cu8, 250e3, 433.92e6},
                          {"g001_868M_1024k_2.cs16", ci16, 1024e3, 868e6},
                          {"a_2M.cu8", cu8, {}, {}},
                          {"HackRF-20200101_120000-433_92MHz-2MSps-3MHz.complex16s", ci8, 2e6, 433.92e6},
                          {"2023-04-05_1000000SPS_741500000Hz_500ksps.cf32", cf32, 1e6, 741.5e6},
                          {"500ksps_1Msps.cf32", cf32, 1e6, {}},
                          {"500ksps.cf32", cf32, 500e3, {}},
                          {"7050kHz_9750MHz.cf32", cf32, {}, 7.05e6},
                          {"", {}, {}, {}},
                          {".", {}, {}, {}}}) {
        CAPTURE(std::string(c.name));
        const RecordingName told = read_recording_name(c.name);
        CHECK(told.format == c.format);
        CHECK(told.sample_rate_hz == c.rate);
        CHECK(told.center_frequency_hz == c.frequency);
    }
}

TEST_CASE("recording name: which of several statements counts is warned of") {
    CHECK(read_recording_name("1000000SPS_500ksps.cf32").warnings.size() == 1);
    CHECK(read_recording_name("1000000SPS_1Msps.cf32").warnings.empty());
    CHECK(read_recording_name("7MHz_9MHz.cf32").warnings.size() == 1);
    CHECK(read_recording_name("1MSPS_7MHz.cf32").warnings.empty());
}

TEST_CASE("recording name: whole numbers of 16 and 32 bits are those that their extension names") {
    CHECK(read_recording_name("a.ci32").integers == StoredIntegers{.bytes = 4, .bits = 32});
    CHECK(read_recording_name("a.complex32u").integers ==
          StoredIntegers{.bytes = 2, .bits = 16, .is_unsigned = true});
    CHECK_FALSE(raw_format("a.ci32"));
    CHECK_FALSE(raw_format("a.cf32.gz"));
    CHECK(raw_format("a.s16") == dsp::SampleFormat::ci16);
}

}  // namespace tidemill::io

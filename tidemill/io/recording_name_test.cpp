#include "tidemill/io/recording_name.hpp"

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
                          {"", {}, {}, {}},
                          {".", {}, {}, {}}}) {
        CAPTURE(std::string(c.name));
        const RecordingName told = read_recording_name(c.name);
        CHECK(told.format == c.format);
        CHECK(told.sample_rate_hz == c.rate);
        CHECK(told.center_frequency_hz == c.frequency);
    }
}

}  // namespace tidemill::io

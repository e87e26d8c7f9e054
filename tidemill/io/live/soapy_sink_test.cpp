#include "tidemill/io/live/soapy_sink.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/internal/soapy_api.hpp"
#include "tidemill/io/testing/made_soapy.hpp"

namespace tidemill::io {
namespace {

constexpr RadioSettings kAt1MHz{.frequency_hz = 100e6, .sample_rate_hz = 1e6};

/// A fresh made-up radio that takes up to so many samples at once.
internal::MadeSoapy& fresh_sender(int at_once) {
    auto& soapy = internal::made_soapy() = {};
    for (int i = 0; i < 1000; ++i) soapy.script.push_back({.status = at_once});
    return soapy;
}

SoapySink made_sink(const SoapySink::Config& config, const RadioSettings& settings = kAt1MHz) {
    static const SoapyLibrary library("");
    auto clock = std::make_unique<internal::MadeClock>();
    internal::made_soapy().clock = clock.get();
    return {library, "driver=made", settings, config, std::move(clock)};
}

}  // namespace

TEST_CASE("soapy sink: the signal rises out of silence and falls into it, and a burst ends") {
    auto& soapy = fresh_sender(700);
    auto sink = made_sink({.gain = 0.5F, .ramp_samples = 100});
    const std::vector<dsp::Iq> samples(5000, dsp::Iq{1, 0});
    sink.write(samples);
    sink.close();
    REQUIRE(soapy.sent.size() == 2 * (10'000 + 5000 + 10'000));
    const auto real = [&](std::size_t sample) { return static_cast<int>(soapy.sent[2 * sample]); };
    CHECK(real(9'999) == 0);
    CHECK(real(10'050) == doctest::Approx(32).epsilon(0.05));
    CHECK(real(12'000) == 64);
    CHECK(real(14'950) == doctest::Approx(32).epsilon(0.05));
    CHECK(real(15'000) == 0);
    CHECK(std::ranges::count(soapy.said, "end of burst") > 0);
    CHECK(sink.samples() == 5000);
    CHECK(sink.limited_samples() == 0);
}

TEST_CASE("soapy sink: between two bursts is silence to the sample, and each rises and falls") {
    auto& soapy = fresh_sender(700);
    auto sink = made_sink({.gain = 0.5F, .ramp_samples = 100});
    const std::vector<dsp::Iq> samples(1000, dsp::Iq{1, 0});
    sink.write(samples);
    sink.rest(3000);
    sink.write(samples);
    sink.close();
    REQUIRE(soapy.sent.size() == 2 * (10'000 + 1000 + 3000 + 1000 + 10'000));
    const auto real = [&](std::size_t sample) { return static_cast<int>(soapy.sent[2 * sample]); };
    for (const std::size_t burst : {10'000, 14'000}) {
        CHECK(real(burst - 1) == 0);
        CHECK(real(burst + 50) == doctest::Approx(32).epsilon(0.05));
        CHECK(real(burst + 500) == 64);
        CHECK(real(burst + 950) == doctest::Approx(32).epsilon(0.05));
        CHECK(real(burst + 1000) == 0);
    }
    CHECK(sink.samples() == 5000);
}

TEST_CASE("soapy sink: no sample is beyond full scale, in any phase") {
    auto& soapy = fresh_sender(100'000);
    auto sink = made_sink({.gain = 1, .ramp_samples = 1});
    sink.write(std::vector<dsp::Iq>{{0.5F, 0.5F}, {0.9F, 0.9F}, {std::nanf(""), 0}, {0.1F, 0}});
    sink.close();
    CHECK(sink.limited_samples() == 2);
    const auto at = [&](std::size_t i) { return static_cast<int>(soapy.sent[2 * (10'000 + i)]); };
    CHECK(at(1) == 90);
    CHECK(at(2) == 0);
}

TEST_CASE("soapy sink: underflows are counted, and who is told to stop sends no more") {
    auto& soapy = fresh_sender(100'000);
    auto sink = made_sink({});
    soapy.script = {{.status = internal::kSoapyUnderflow}, {.status = 100}, {.status = 100'000}};
    sink.write(std::vector<dsp::Iq>(1000));
    CHECK(sink.underflows() == 1);
    sink.stop();
    const std::size_t sent = soapy.sent.size();
    sink.write(std::vector<dsp::Iq>(1000));
    CHECK(soapy.sent.size() == sent);
}

TEST_CASE("soapy sink: a radio that takes nothing, and one with another rate, are told of") {
    auto& soapy = fresh_sender(100'000);
    auto sink = made_sink({});
    soapy.script.clear();
    for (int i = 0; i < 50; ++i)
        soapy.script.push_back({.status = internal::kSoapyTimeout, .takes_ns = 100'000'000});
    CHECK_THROWS_WITH_AS(sink.write(std::vector<dsp::Iq>(1000)), doctest::Contains("takes no more"), IoError);
    fresh_sender(100).rate_given_hz = 1'000'100;
    CHECK_THROWS_WITH_AS(made_sink({}), doctest::Contains("1000100 samples per second"), IoError);
}

}  // namespace tidemill::io

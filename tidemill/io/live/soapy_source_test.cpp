#include "tidemill/io/live/soapy_source.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/internal/soapy_api.hpp"
#include "tidemill/io/testing/made_soapy.hpp"

namespace tidemill::io {
namespace {

using internal::kSoapyOverflow;
using internal::kSoapyTimeout;
using internal::MadeClock;
using internal::MadeOutcome;

constexpr int kStreamError = -2;
constexpr std::int64_t kMs = 1'000'000;

const SoapyLibrary& made_library() {
    static const SoapyLibrary library("");
    return library;
}

/// A source of the made-up radio, with a clock that the test moves.
class Opened {
  public:
    explicit Opened(const RadioSettings& settings = {.frequency_hz = 100e6, .sample_rate_hz = 1e6})
        : Opened(settings, std::make_unique<MadeClock>()) {}
    Opened(const RadioSettings& settings, std::unique_ptr<MadeClock> clock)
        : clock_(*clock), source_(made_library(), "driver=made", settings, std::move(clock)) {
        internal::made_soapy().clock = &clock_;
        internal::made_soapy().at_end = [this] { source_.end(); };
    }
    SoapySource& operator*() { return source_; }
    SoapySource* operator->() { return &source_; }

    // Samples that are given out until the script ends: values and how many of each.
    std::vector<std::pair<int, std::size_t>> runs() {
        std::vector<std::pair<int, std::size_t>> runs;
        std::array<std::byte, 4096> bytes{};
        for (std::size_t got = source_.read(bytes); got > 0; got = source_.read(bytes)) {
            for (std::size_t i = 0; i < got; i += 2) {
                const int value = std::to_integer<int>(bytes[i]);
                if (runs.empty() || runs.back().first != value) runs.emplace_back(value, 0);
                ++runs.back().second;
            }
        }
        return runs;
    }

  private:
    MadeClock& clock_;
    SoapySource source_;
};

/// A fresh made-up SoapySDR.
internal::MadeSoapy& fresh() {
    return internal::made_soapy() = {};
}

bool was_said(const std::string& what) {
    const auto& said = internal::made_soapy().said;
    return std::ranges::find(said, what) != said.end();
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

using Runs = std::vector<std::pair<int, std::size_t>>;

}  // namespace

TEST_CASE("soapy: the gain can be changed while samples come, and a radio that comes back has it") {
    internal::MadeSoapy& soapy = fresh();
    Opened radio({.frequency_hz = 100e6, .sample_rate_hz = 1e6, .gain_db = 20});
    REQUIRE(radio->begin());
    const auto controls = radio->controls();
    REQUIRE(controls.size() == 1);
    CHECK(controls[0].name == "gain_db");
    CHECK(controls[0].value == 20);
    radio->control(0, 30);
    soapy.script = {{.status = 10}, {.status = kStreamError}, {.status = 10}};
    radio.runs();
    const auto gains = std::ranges::count(soapy.said, std::string("gain 30"));
    CHECK(gains == 2);
}

TEST_CASE("soapy: the end need not wait for a driver that takes its time, and the radio is closed then") {
    internal::MadeSoapy& soapy = fresh();
    std::promise<void> go_on, opening, closed;
    soapy.at_make = [&, waits = go_on.get_future().share()] {
        opening.set_value();
        waits.wait();
    };
    soapy.at_unmake = [&] { closed.set_value(); };
    {
        Opened radio;
        std::thread user([&] {
            opening.get_future().wait();
            radio->end();
        });
        CHECK_FALSE(radio->begin());
        user.join();
    }
    go_on.set_value();
    closed.get_future().wait();
    CHECK(soapy.devices == 0);
    CHECK(soapy.streams == 0);
}

TEST_CASE("soapy: a library that is not there is named with what to install") {
    CHECK_THROWS_WITH_AS(SoapyLibrary("libno-such-thing.so.0.8"), doctest::Contains("install libsoapysdr0.8"),
                         IoError);
    fresh().abi = "0.9";
    CHECK_THROWS_WITH_AS(SoapyLibrary(""), doctest::Contains("0.9"), IoError);
}

TEST_CASE("soapy: a radio is told what was asked, and gives its native format") {
    fresh();
    Opened source({.frequency_hz = 741.5e6,
                   .sample_rate_hz = 2.4e6,
                   .gain_db = 40,
                   .digital_agc = true,
                   .correction_ppm = 2,
                   .bias_tee = true,
                   .antenna = "LNA",
                   .settings = {{"lna_mode", "high"}}});
    REQUIRE(source->begin());
    CHECK(source->format() == dsp::SampleFormat::ci8);
    CHECK(source->sample_rate_hz() == 2.4e6);
    for (const char* said :
         {"make driver=made", "antenna LNA", "rate 2400000", "bandwidth 2000000", "correction 2",
          "frequency 741500000", "gain_mode by hand", "gain 40", "setting digital_agc=true",
          "setting biastee=true", "channel_setting lna_mode=high", "stream CS8"}) {
        CHECK_MESSAGE(was_said(said), said);
    }
}

TEST_CASE("soapy: an oscillator that the radio cannot correct is corrected by arithmetic") {
    fresh().corrects_frequency = false;
    Opened source({.frequency_hz = 1000e6, .sample_rate_hz = 1e6, .correction_ppm = 50});
    REQUIRE(source->begin());
    CHECK(was_said("frequency 999950002"));
    CHECK(was_said("gain_mode automatic"));
}

TEST_CASE("soapy: the rate that the radio gives is told, not the one that was asked") {
    fresh().rate_given_hz = 1'000'001;
    Opened source;
    REQUIRE(source->begin());
    CHECK(source->sample_rate_hz() == 1'000'001);
}

TEST_CASE("soapy: other formats are taken where the native one is unknown") {
    fresh().native = "CS12";
    Opened source;
    REQUIRE(source->begin());
    CHECK(source->format() == dsp::SampleFormat::ci16);
    fresh().native = "CS4";
    internal::made_soapy().formats = {"CS4"};
    CHECK_THROWS_WITH_AS(Opened()->begin(), doctest::Contains("CS4"), IoError);
}

TEST_CASE("soapy: what cannot be is refused, with what can") {
    const auto refusal = [](const RadioSettings& settings) -> std::string {
        fresh();
        try {
            Opened(settings)->begin();
        } catch (const IoError& error) {
            return error.what();
        }
        return "";
    };
    CHECK(contains(refusal({.frequency_hz = 100e6, .sample_rate_hz = 500e3}),
                   "cannot do 0.5 MS/s; it has 0.225001 to 0.3, 0.900001 to 3.2 MS/s"));
    CHECK(contains(refusal({.frequency_hz = 10491e6, .sample_rate_hz = 1e6}), "24 to 1764 MHz"));
    CHECK(contains(refusal({.frequency_hz = 100e6, .sample_rate_hz = 1e6, .gain_db = 60}), "-10 to 49.6 dB"));
    CHECK(
        contains(refusal({.frequency_hz = 100e6, .sample_rate_hz = 1e6, .antenna = "TX"}), "it has RX, LNA"));
    CHECK(contains(refusal({.frequency_hz = 100e6, .sample_rate_hz = 1e6, .settings = {{"no", "1"}}}),
                   "digital_agc, biastee, lna_mode"));
    CHECK(internal::made_soapy().devices == 0);
}

TEST_CASE("soapy: a radio that is busy says why, and who is told to end before does not open it") {
    fresh().refusals["make"] = "usb_claim_interface error -6";
    CHECK_THROWS_WITH_AS(Opened()->begin(), doctest::Contains("usb_claim_interface error -6"), IoError);
    fresh().refusals["activate"] = "another program is sending";
    CHECK_THROWS_WITH_AS(Opened()->begin(), doctest::Contains("another program is sending"), IoError);
    CHECK(internal::made_soapy().streams == 0);
    fresh();
    Opened source;
    source->end();
    CHECK_FALSE(source->begin());
    CHECK(internal::made_soapy().said.empty());
}

TEST_CASE("soapy: samples that are missing by their times are silence, counted to the sample") {
    fresh().script = {{.status = 1000, .time_ns = 5'000'000'000},
                      {.status = kSoapyOverflow},
                      {.status = 500, .time_ns = 5'001'234'000, .value = 2},
                      {.status = 100, .time_ns = 5'001'734'000, .value = 3}};
    Opened source;
    REQUIRE(source->begin());
    CHECK(source.runs() == Runs{{1, 1000}, {0, 234}, {2, 500}, {3, 100}});
    CHECK(source->losses().gaps == 1);
    CHECK(source->losses().samples == 234);
    CHECK(source->losses().estimated == 0);
}

TEST_CASE("soapy: without times a gap is what the wall's clock says") {
    auto& soapy = fresh();
    for (int i = 0; i < 10; ++i) soapy.script.push_back({.status = 1000, .takes_ns = kMs});
    soapy.script.push_back({.status = kSoapyOverflow, .takes_ns = 20 * kMs});
    soapy.script.push_back({.status = 1000, .takes_ns = kMs, .value = 2});
    Opened source;
    REQUIRE(source->begin());
    CHECK(source.runs() == Runs{{1, 10000}, {0, 20000}, {2, 1000}});
    CHECK(source->losses().samples == 20000);
    CHECK(source->losses().estimated == 20000);
}

TEST_CASE("soapy: a radio that vanishes is opened again with its settings, after pauses that grow") {
    auto& soapy = fresh();
    soapy.script = {{.status = 1000, .takes_ns = kMs}, {.status = kStreamError, .takes_ns = kMs}};
    Opened source({.frequency_hz = 100e6, .sample_rate_hz = 1e6, .gain_db = 7});
    REQUIRE(source->begin());
    int tries = 0;
    soapy.at_end = [&] { source->end(); };
    std::array<std::byte, 2048> bytes{};
    CHECK(source->read(bytes) == 2000);
    soapy.said.clear();
    soapy.refusals["make"] = "no such device";
    std::uint64_t silence = 0;
    while (tries < 3) {
        silence += source->read(bytes) / 2;
        tries = static_cast<int>(std::ranges::count(soapy.said, "make driver=made"));
        if (silence >= 1'000'000) {
            soapy.refusals.clear();
            soapy.script = {{.status = 10, .value = 5}};
            break;
        }
    }
    CHECK(tries < 3);
    CHECK(contains(source->trouble(), "has vanished"));
    CHECK(source->read(bytes) == 20);
    CHECK(bytes[0] == std::byte{5});
    CHECK(was_said("gain 7"));
    CHECK(source->trouble().empty());
    CHECK(source->losses().gaps == 1);
    CHECK(source->losses().samples > 1'000'000);
}

TEST_CASE("soapy: an overflow that has cost nothing is counted all the same") {
    fresh().script = {{.status = 100}, {.status = kSoapyOverflow}, {.status = 100}, {.status = 100}};
    Opened source;
    REQUIRE(source->begin());
    CHECK(source.runs() == Runs{{1, 300}});
    CHECK(source->losses().gaps == 1);
    CHECK(source->losses().samples == 0);
}

TEST_CASE("soapy: of a long gap a second is given out, and all of it counted") {
    fresh().script = {{.status = 100, .time_ns = 0}, {.status = 100, .time_ns = 7'000'100'000, .value = 2}};
    Opened source;
    REQUIRE(source->begin());
    CHECK(source.runs() == Runs{{1, 100}, {0, 1'000'000}, {2, 100}});
    CHECK(source->losses().samples == 7'000'000);
}

TEST_CASE("soapy: a radio that never gives a sample is told of") {
    auto& soapy = fresh();
    for (int i = 0; i < 200; ++i) soapy.script.push_back({.status = kSoapyTimeout, .takes_ns = 100 * kMs});
    Opened source;
    REQUIRE(source->begin());
    CHECK_THROWS_WITH_AS(source.runs(), doctest::Contains("gives no samples"), IoError);
    fresh().script = {{.status = kStreamError}};
    Opened other;
    REQUIRE(other->begin());
    CHECK_THROWS_WITH_AS(other.runs(), doctest::Contains("STREAM_ERROR"), IoError);
}

TEST_CASE("soapy: only zeros are told of, until something else comes") {
    fresh().script = {{.status = 100, .value = 0}, {.status = 100, .value = 1}};
    Opened source;
    REQUIRE(source->begin());
    std::array<std::byte, 4096> bytes{};
    CHECK(source->read(bytes) == 200);
    CHECK(contains(source->trouble(), "only zeros"));
    CHECK(source->read(bytes) == 200);
    CHECK(source->trouble().empty());
}

}  // namespace tidemill::io

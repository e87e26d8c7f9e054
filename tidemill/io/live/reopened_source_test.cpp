#include "tidemill/io/live/reopened_source.hpp"

#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/testing/made_soapy.hpp"

namespace tidemill::io {
namespace {

using internal::MadeClock;

// One connection: how many samples it brings, of one value; and how it ends.
struct Connection {
    std::size_t samples = 0;
    std::byte value{};
    bool fails = false;    // instead of an end
    bool refused = false;  // cannot even begin
};

class ConnectionSource final : public LiveSource {
  public:
    ConnectionSource(Connection connection, std::vector<double>& told)
        : connection_(connection), told_(told) {}

    dsp::SampleFormat format() const override { return dsp::SampleFormat::ci8; }
    std::optional<double> sample_rate_hz() const override { return 1000; }
    bool begin() override { return !connection_.refused; }
    void end() noexcept override {}
    void control(std::size_t, double value) override { told_.push_back(value); }
    std::size_t read(std::span<std::byte> to) override {
        const std::size_t samples = std::min(to.size() / 2, connection_.samples);
        if (samples == 0 && connection_.fails) throw IoError("Connection reset by peer");
        std::ranges::fill(to.first(2 * samples), connection_.value);
        connection_.samples -= samples;
        return 2 * samples;
    }

  private:
    Connection connection_;
    std::vector<double>& told_;
};

// Connections one after another; once there are no more, the stream is ended.
class Connections {
  public:
    explicit Connections(std::deque<Connection> all)
        : all_(std::move(all)),
          source_(
              "tcp://there:1", [this] { return next(); }, made_clock()) {}

    ReopenedSource& operator*() { return source_; }
    ReopenedSource* operator->() { return &source_; }
    const std::vector<double>& told() const { return told_; }
    const std::vector<std::int64_t>& opened_ms() const { return opened_ms_; }

    // Samples that are given out: values and how many of each.
    std::vector<std::pair<int, std::size_t>> runs() {
        std::vector<std::pair<int, std::size_t>> runs;
        std::array<std::byte, 128> bytes{};
        while (const std::size_t got = source_.read(bytes)) {
            for (std::size_t i = 0; i < got; i += 2) {
                const int value = std::to_integer<int>(bytes[i]);
                if (runs.empty() || runs.back().first != value) runs.emplace_back(value, 0);
                ++runs.back().second;
            }
        }
        return runs;
    }

  private:
    std::unique_ptr<LiveClock> made_clock() {
        auto clock = std::make_unique<MadeClock>();
        clock_ = clock.get();
        return clock;
    }
    std::unique_ptr<LiveSource> next() {
        opened_ms_.push_back(clock_->now_ns() / 1'000'000 - 1000);
        if (all_.empty()) {
            clock_->end();
            throw IoError("Connection refused");
        }
        const Connection connection = all_.front();
        all_.pop_front();
        return std::make_unique<ConnectionSource>(connection, told_);
    }

    MadeClock* clock_ = nullptr;
    std::deque<Connection> all_;
    std::vector<double> told_;
    std::vector<std::int64_t> opened_ms_;
    ReopenedSource source_;
};

}  // namespace

TEST_CASE("reopened source: what breaks off is opened again, and the time without is silence and counted") {
    for (const bool fails : {false, true}) {
        CAPTURE(fails);
        Connections radio({{.samples = 100, .value = std::byte{7}, .fails = fails},
                           {.samples = 50, .value = std::byte{9}}});
        REQUIRE(radio->begin());
        const auto runs = radio.runs();
        REQUIRE(runs.size() >= 3);
        CHECK(runs[0] == std::pair(7, std::size_t{100}));
        CHECK(runs[1] == std::pair(0, std::size_t{500}));  // half a second of a thousand samples each
        CHECK(runs[2] == std::pair(9, std::size_t{50}));
        const SampleLosses losses = radio->losses();
        CHECK(losses.gaps == 2);
        CHECK(losses.samples == losses.estimated);
        CHECK(losses.samples >= 500);
    }
}

TEST_CASE("reopened source: pauses grow, silence does not, and all that is missing is counted") {
    Connections radio({{.samples = 1, .value = std::byte{7}},
                       {.refused = true},
                       {.samples = 0},
                       {.samples = 1, .value = std::byte{9}}});
    const auto runs = radio.runs();
    CHECK(radio.opened_ms() == std::vector<std::int64_t>{0, 500, 1500, 3500, 4000});
    REQUIRE(runs.size() >= 3);
    CHECK(runs[1] == std::pair(0, std::size_t{1000}));
    CHECK(runs[2] == std::pair(9, std::size_t{1}));
    CHECK(radio->losses().samples == 4000);
}

TEST_CASE("reopened source: while it is gone that is told, and what was set stays set") {
    Connections radio({{.samples = 1, .value = std::byte{7}}, {.samples = 1, .value = std::byte{9}}});
    std::array<std::byte, 8> bytes{};
    CHECK(radio->read(bytes) == 2);
    CHECK(radio->trouble().empty());
    radio->control(0, 12.5);
    CHECK(radio->read(bytes) == 8);  // silence
    CHECK(radio->trouble() == "'tcp://there:1' has vanished, and is looked for");
    for (bytes[0] = std::byte{}; bytes[0] != std::byte{9};) REQUIRE(radio->read(bytes) > 0);
    CHECK(radio->trouble().empty());
    CHECK(radio.told() == std::vector<double>{12.5, 12.5});
}

TEST_CASE("reopened source: what never gave a sample is an end, or an error") {
    Connections silent(std::deque<Connection>{Connection{.samples = 0}});
    CHECK(silent.runs().empty());
    Connections broken(std::deque<Connection>{Connection{.fails = true}});
    CHECK_THROWS_WITH_AS(broken.runs(), doctest::Contains("reset"), IoError);
}

}  // namespace tidemill::io

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <numeric>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/loopback/loopback_receiver.hpp"
#include "tidemill/loopback/loopback_sender.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::loopback {
namespace {

using Arguments = std::map<std::string, std::string>;

constexpr double kRateHz = 1e6;
constexpr std::int64_t kMs = 1'000'000;

/// Goes on when somebody waits, or the test says so.
class TestClock final : public io::LiveClock {
  public:
    std::int64_t now_ns() const override { return ns; }
    void wait_ns(std::int64_t more) override { ns += more; }
    std::int64_t ns = 0;
};

/// Sample n has the value n in its real part.
class CountingFeed final : public SampleFeed {
  public:
    dsp::SampleFormat format() const override { return dsp::SampleFormat::cf32; }
    void read(std::uint64_t first, std::span<std::byte> to) override {
        std::vector<dsp::Iq> samples(to.size() / sizeof(dsp::Iq));
        for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = {static_cast<float>(first + i), 0};
        std::memcpy(to.data(), samples.data(), to.size());
    }
};

/// A receiver of these, read as a program does it.
class Listener {
  public:
    explicit Listener(const Arguments& arguments, SharedAir* air = nullptr)
        : receiver_(parse_loopback(arguments), {kRateHz, 0, 0}, feed(air), clock, air) {}

    ReadOutcome read(std::size_t samples = 1000) {
        bytes_.resize(samples * sizeof(dsp::Iq));
        return receiver_.read(bytes_, 100 * kMs);
    }
    float first_value() const {
        dsp::Iq first;
        std::memcpy(static_cast<void*>(&first), bytes_.data(), sizeof first);
        return first.real();
    }
    LoopbackReceiver& operator*() { return receiver_; }

    TestClock clock;

  private:
    static std::unique_ptr<SampleFeed> feed(SharedAir* air) {
        if (air) return std::make_unique<AirFeed>(*air);
        return std::make_unique<CountingFeed>();
    }

    LoopbackReceiver receiver_;
    std::vector<std::byte> bytes_;
};

// An air of the test's own, even if others run it.
AirConfig own_air(const char* test) {
    return {.name = fmt::format("{}-{}", test, getpid()), .sample_rate_hz = kRateHz};
}

std::vector<dsp::Iq> counted(std::size_t count, float first = 1) {
    std::vector<dsp::Iq> samples(count);
    for (std::size_t i = 0; i < count; ++i) samples[i] = {first + static_cast<float>(i), 0};
    return samples;
}

}  // namespace

TEST_CASE("loopback: arguments are read, and others left to others") {
    const auto options = parse_loopback({{"driver", "loopback"},
                                         {"file", "a.cs16"},
                                         {"overflow", "3+0.2:1.5+0.01"},
                                         {"symbol-rate", "250k"},
                                         {"esn0", "8"},
                                         {"cfo", "-2e3"}});
    CHECK(options.file == "a.cs16");
    REQUIRE(options.overflows.size() == 2);
    CHECK(options.overflows[0].at_s == 1.5);
    CHECK(options.channel.config.esn0_db == 8);
    CHECK(options.channel.symbol_rate_hz == 250e3);
    CHECK_FALSE(options.channel.is_plain);
    CHECK(channel_at(options.channel, 2e6, -1e3).frequency_cycles_per_symbol == doctest::Approx(-4e-3));
    CHECK(parse_loopback({}).channel.is_plain);
}

TEST_CASE("loopback: an argument that cannot be is named") {
    for (const Arguments& arguments : {Arguments{{"esn0", "nan"}},
                                       {{"esn0", ""}},
                                       {{"overflow", "1"}},
                                       {{"timeout", "1+x"}},
                                       {{"air", "../x"}},
                                       {{"pace", "slow"}},
                                       {{"times", "maybe"}},
                                       {{"pace", "fast"}, {"late", "1"}}}) {
        CHECK_THROWS_WITH_AS(parse_loopback(arguments), doctest::Contains(arguments.begin()->first.c_str()),
                             LoopbackError);
    }
}

TEST_CASE("loopback: samples come at their rate, with their times") {
    Listener listener(Arguments{});
    const ReadOutcome first = listener.read();
    CHECK(first.happened == Happened::samples);
    CHECK(first.samples == 1000);
    CHECK(listener.clock.ns >= 1 * kMs);
    const ReadOutcome second = listener.read();
    CHECK(second.time_ns == 1 * kMs);
    CHECK(listener.first_value() == 1000);
}

TEST_CASE("loopback: who stood still for a while has lost so much, to the sample") {
    Listener listener(Arguments{});
    REQUIRE(listener.read().samples == 1000);
    listener.clock.ns = 301 * kMs + 500;
    CHECK(listener.read().happened == Happened::overflow);
    listener.clock.ns += 1 * kMs;
    const ReadOutcome next = listener.read();
    CHECK(next.time_ns == 301'000'000);
    CHECK(listener.first_value() == 301'000);
}

TEST_CASE("loopback: an overflow that was ordered begins and ends at its samples") {
    Listener listener(Arguments{{"overflow", "0.0015+0.0005"}});
    CHECK(listener.read().samples == 1000);
    CHECK(listener.read().samples == 500);
    CHECK(listener.read().happened == Happened::overflow);
    listener.read();
    CHECK(listener.first_value() == 2000);
}

TEST_CASE("loopback: late starts, timeouts and unplugging come when they were ordered") {
    Listener late(Arguments{{"late", "0.25"}});
    CHECK(late.read().happened == Happened::timeout);
    CHECK(late.read().happened == Happened::timeout);
    CHECK(late.read().samples > 0);
    CHECK(late.first_value() == 0);
    Listener silent(Arguments{{"timeout", "0.001+0.05"}});
    CHECK(silent.read().samples > 0);
    CHECK(silent.read().happened == Happened::timeout);
    CHECK(silent.read().samples > 0);
    CHECK(silent.first_value() == 1000);
    Listener unplugged(Arguments{{"unplug", "0.001+1"}});
    CHECK(unplugged.read().samples > 0);
    CHECK(unplugged.read().happened == Happened::gone);
    CHECK((*unplugged).is_unplugged());
}

TEST_CASE("loopback: without a clock a recording comes as fast as it is read") {
    Listener listener(Arguments{{"pace", "fast"}});
    for (int i = 0; i < 10; ++i) CHECK(listener.read().samples > 0);
    CHECK(listener.clock.ns == 0);
}

TEST_CASE("loopback air: what one writes another reads, and what nobody wrote is silence") {
    const AirConfig config = own_air("meet");
    SharedAir sender(config), receiver(config);
    CHECK(sender.epoch_ns() == receiver.epoch_ns());
    const auto sent = counted(1000);
    sender.write(300, sent);
    std::vector<dsp::Iq> heard(1400);
    receiver.read(0, heard);
    CHECK(std::ranges::all_of(heard.begin(), heard.begin() + 300, [](auto s) { return s == dsp::Iq{}; }));
    CHECK(std::ranges::equal(std::span(heard).subspan(300, 1000), sent));
    CHECK(std::ranges::all_of(heard.begin() + 1300, heard.end(), [](auto s) { return s == dsp::Iq{}; }));
}

TEST_CASE("loopback air: what was overwritten a turn later is silence, too") {
    SharedAir air(own_air("turn"));
    air.write(0, counted(256));
    air.write(air.capacity(), counted(256, 5000));
    std::vector<dsp::Iq> heard(256, dsp::Iq{1, 1});
    air.read(0, heard);
    CHECK(heard[10] == dsp::Iq{});
    air.read(air.capacity(), heard);
    CHECK(heard[10] == dsp::Iq{5010, 0});
}

TEST_CASE("loopback air: the memory is the user's alone, and gone with its last user") {
    const AirConfig config = own_air("gone");
    const std::string file = fmt::format("/dev/shm/tidemill-loopback-{}-{}", getuid(), config.name);
    struct stat status {};
    {
        const SharedAir first(config);
        { const SharedAir second(config); }
        REQUIRE(stat(file.c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0600);
    }
    CHECK(stat(file.c_str(), &status) != 0);
}

TEST_CASE("loopback air: what a program left that was killed is made anew") {
    const AirConfig config = own_air("left");
    const std::string name = fmt::format("/tidemill-loopback-{}-{}", getuid(), config.name);
    const int left = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
    REQUIRE(ftruncate(left, 4096) == 0);
    close(left);
    SharedAir air(config);
    CHECK(air.capacity() >= 1 << 16);
}

TEST_CASE("loopback air: other rates and a second sender are refused") {
    AirConfig config = own_air("rate");
    SharedAir air(config), other(config);
    config.sample_rate_hz = 2e6;
    CHECK_THROWS_WITH_AS(SharedAir{config}, doctest::Contains("1000000 samples per second"), LoopbackError);
    air.begin_to_send(1e9);
    CHECK_THROWS_WITH_AS(other.begin_to_send(1e9), doctest::Contains("sending"), LoopbackError);
    air.end_sending();
    CHECK_NOTHROW(other.begin_to_send(2e9));
    CHECK(air.sent_frequency_hz() == 2e9);
}

TEST_CASE("loopback sender: samples leave in time, and a pause is an underflow, told once") {
    SharedAir air(own_air("send"));
    TestClock clock;
    LoopbackSender sender({}, kRateHz, air, clock);
    const auto samples = counted(2000);
    CHECK(sender.write(samples, false, 100 * kMs).samples == 2000);
    CHECK(sender.status().happened == Happened::timeout);
    clock.ns += 200 * kMs;
    CHECK(sender.status().happened == Happened::underflow);
    CHECK(sender.status().happened == Happened::timeout);
    CHECK(sender.write(samples, true, 100 * kMs).samples == 2000);
    clock.ns += 200 * kMs;
    CHECK(sender.status().happened == Happened::timeout);
    std::vector<dsp::Iq> heard(1);
    air.read(20'000, heard);
    CHECK(heard[0] == dsp::Iq{1, 0});
}

TEST_CASE("loopback sender: who writes too much waits until there is room") {
    SharedAir air(own_air("room"));
    TestClock clock;
    LoopbackSender sender({}, kRateHz, air, clock);
    const auto samples = counted(200'000);
    const auto first = sender.write(samples, false, 100 * kMs).samples;
    CHECK(first < 150'000);
    CHECK(clock.ns == 0);
    const auto second = sender.write(std::span(samples).subspan(first), false, 100 * kMs).samples;
    CHECK(clock.ns > 0);
    CHECK(second > 0);
    CHECK(second < 10'000);
}

TEST_CASE("loopback: without a clock nothing is lost between a sender and a receiver") {
    AirConfig config = own_air("fast");
    config.fast = true;
    SharedAir air(config), heard_air(config);
    TestClock clock;
    LoopbackSender sender(parse_loopback({{"pace", "fast"}}), kRateHz, air, clock);
    Listener listener(Arguments{{"pace", "fast"}}, &heard_air);
    const auto samples = counted(500'000);
    std::size_t sent = 0, heard = 0;
    while (heard < samples.size()) {
        sent += sender.write(std::span(samples).subspan(sent), false, kMs).samples;
        const ReadOutcome outcome = listener.read();
        if (outcome.samples == 0) continue;
        CHECK(listener.first_value() == static_cast<float>(heard + 1));
        heard += outcome.samples;
    }
    CHECK(sent == samples.size());
}

TEST_CASE("loopback feeds: a recording is given out as it is, then silence, or over again") {
    const ScratchFolder folder;
    const auto path = folder / "a.cs16";
    std::array<std::int16_t, 8> numbers{};
    std::iota(numbers.begin(), numbers.end(), std::int16_t{1});
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
    const auto read = [&](bool repeat) {
        RecordingFeed feed(io::open_recording(path), repeat);
        std::array<std::int16_t, 12> got{};
        feed.read(1, std::as_writable_bytes(std::span(got)));
        return got;
    };
    CHECK(read(false) == std::array<std::int16_t, 12>{3, 4, 5, 6, 7, 8});
    CHECK(read(true) == std::array<std::int16_t, 12>{3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("loopback feeds: behind a gap the channel gives what it would have given") {
    const auto make = [] {
        const auto options =
            parse_loopback({{"esn0", "10"}, {"symbol-rate", "1e6"}, {"cfo", "1e3"}, {"ppm", "20"}});
        return ChannelFeed(std::make_unique<CountingFeed>(),
                           channel_at(options.channel, kRateHz, options.channel.offset_hz), -12);
    };
    ChannelFeed whole = make(), with_gap = make();
    std::vector<dsp::Iq> all(30'000), beginning(5000), end(10'000);
    whole.read(0, std::as_writable_bytes(std::span(all)));
    with_gap.read(0, std::as_writable_bytes(std::span(beginning)));
    with_gap.read(20'000, std::as_writable_bytes(std::span(end)));
    CHECK(std::ranges::equal(end, std::span(all).subspan(20'000)));
}

}  // namespace tidemill::loopback

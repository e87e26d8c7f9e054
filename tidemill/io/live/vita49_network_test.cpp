// VITA-49 packets over sockets: to one place, to a group, and through a network that loses and reorders.
#include <algorithm>
#include <fstream>
#include <random>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/vita49_sender.hpp"
#include "tidemill/io/live/vita49_source.hpp"
#include "tidemill/io/testing/vita_packets.hpp"

namespace tidemill::io {
namespace {

using internal::VitaPackets;

constexpr std::uint64_t kSamplesPerPacket = kMostVitaPayloadBytes / 4;

VitaSending as_fast_as_they_come() {
    return {.sample_rate_hz = 1e6, .frequency_hz = 741.5e6, .is_paced = false};
}

std::string vita_url(std::uint16_t port, const char* more = "") {
    return fmt::format("vita49://127.0.0.1:{}{}", port, more);
}

// A port at which nobody listens.
std::uint16_t free_port() {
    return UdpReceiver({"127.0.0.1", 0}).port();
}

/// Listener to a group, which makes samples of what comes.
struct Listener {
    UdpReceiver socket;
    VitaStream stream{{}};
    std::vector<std::byte> samples{};

    explicit Listener(std::uint16_t port) : socket({"239.255.49.2", port, "lo"}) {}

    void hear_one() {
        REQUIRE(socket.wait(std::chrono::seconds(10)));
        stream.take(std::as_bytes(socket.next()));
        keep();
    }
    void keep() {
        std::array<std::byte, 4096> block;
        for (std::size_t got = stream.read(block); got > 0; got = stream.read(block))
            samples.insert(samples.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(got));
    }
};

/// A network between a sender and a group: of data packets one in a hundred is lost, one in ten comes up to
/// four places later.
class LossyNetwork {
  public:
    explicit LossyNetwork(std::uint16_t to) : to_({"239.255.49.2", to, "lo"}) {}

    std::uint16_t port() const { return from_.port(); }

    // Returns how many datagrams went on.
    int pass_on() {
        int sent = 0;
        for (auto datagram = from_.next(); !datagram.empty(); datagram = from_.next()) {
            const bool is_data = (datagram[0] >> 4) == 1;
            ++seen_;
            if (is_data && data_++ > 0 && random_() % 100 == 0) {
                lost_.push_back(data_ - 1);
                continue;
            }
            const bool is_delayed = data_ > 1 && random_() % 10 == 0;
            delayed_.push_back(
                {{datagram.begin(), datagram.end()}, seen_ + (is_delayed ? random_() % 4 + 1 : 0)});
            sent += send_due(seen_);
        }
        return sent;
    }
    int send_due(std::uint64_t until) {
        int sent = 0;
        std::ranges::stable_sort(delayed_, {}, &Delayed::due);
        for (; !delayed_.empty() && delayed_.front().due <= until; ++sent) {
            to_.send(delayed_.front().bytes);
            delayed_.erase(delayed_.begin());
        }
        return sent;
    }
    const std::vector<std::uint64_t>& lost() const { return lost_; }  // data packets, from 0
    std::size_t gaps() const {
        std::size_t beginnings = lost_.empty() ? 0 : 1;
        for (std::size_t i = 1; i < lost_.size(); ++i) beginnings += lost_[i] != lost_[i - 1] + 1;
        return beginnings;
    }

  private:
    struct Delayed {
        std::vector<std::uint8_t> bytes;
        std::uint64_t due;
    };

    UdpReceiver from_{{"127.0.0.1", 0}};
    UdpSender to_;
    std::mt19937 random_{20};
    std::uint64_t seen_ = 0, data_ = 0;
    std::vector<Delayed> delayed_;
    std::vector<std::uint64_t> lost_;
};

}  // namespace

TEST_CASE("VITA-49 places: address, interface, stream and class, and nothing else") {
    const VitaAddress place =
        parse_vita_place("vita49://239.1.2.3:5000?interface=eth0&stream=0x1f&class=any");
    CHECK(place.address.host == "239.1.2.3");
    CHECK(place.address.port == 5000);
    CHECK(place.address.interface == "eth0");
    CHECK(place.stream == 31);
    CHECK(place.any_class);
    CHECK(parse_vita_place("vita49://[::1]:5000").address.host == "::1");
    CHECK_FALSE(is_vita_place("vita49.iq"));
    for (const char* bad :
         {"vita49://", "vita49://host", "vita49://host:1?stream=", "vita49://host:1?stream=x",
          "vita49://host:1?stream=4294967296", "vita49://host:1?class=mine", "vita49://host:1?streams=1",
          "vita49://host:1?stream"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(parse_vita_place(bad), IoError);
    }
    CHECK_THROWS_WITH_AS(VitaSource({.place = "vita49://239.1.2.3:5000?interface=nosuch0"}),
                         "there is no network interface 'nosuch0'", IoError);
}

TEST_CASE("VITA-49: what is sent to a receiver comes out of it, with its rate and format") {
    VitaSource source({.place = vita_url(free_port())});
    VitaSender sender(vita_url(source.port(), "?stream=9"), as_fast_as_they_come());
    const auto samples = VitaPackets::numbers(0, 5 * kSamplesPerPacket + 7);
    sender.write(samples);
    sender.close();
    REQUIRE(source.begin());
    CHECK(source.format() == dsp::SampleFormat::ci16_be);
    CHECK(source.sample_rate_hz() == 1e6);
    std::vector<std::byte> got(samples.size());
    std::size_t done = 0;
    while (done < got.size()) done += source.read(std::span(got).subspan(done));
    CHECK(got == samples);
    CHECK(source.losses().gaps == 0);
}

TEST_CASE("VITA-49: waiting for packets can be ended, at the beginning and later") {
    VitaSource source({.place = vita_url(free_port())});
    std::array<std::byte, 64> bytes;
    std::thread reader([&] {
        CHECK_FALSE(source.begin());
        CHECK(source.read(bytes) == 0);
    });
    source.end();
    reader.join();
}

TEST_CASE("VITA-49: data without context are an error that says what to give") {
    VitaSource source({.place = vita_url(free_port())}, std::chrono::milliseconds(1));
    UdpSender sender({"127.0.0.1", source.port()});
    const auto packet = VitaPackets().data(0);
    sender.send(std::span(reinterpret_cast<const std::uint8_t*>(packet.data()), packet.size()));
    CHECK_THROWS_WITH_AS(source.begin(), doctest::Contains("give --rate and --format"), IoError);
}

TEST_CASE("VITA-49: two receivers of a group, 1 % lost and reordered: each gap is counted, no sample wrong") {
    const std::uint16_t port = free_port();
    Listener first(port), second(port);
    LossyNetwork network(port);
    VitaSender sender(vita_url(network.port()), as_fast_as_they_come());
    constexpr std::uint64_t kPackets = 2000;
    const auto hear = [&](int datagrams) {
        for (; datagrams > 0; --datagrams) {
            first.hear_one();
            second.hear_one();
        }
    };
    for (std::uint64_t index = 0; index < kPackets; ++index) {
        sender.write(VitaPackets::numbers(index * kSamplesPerPacket, kSamplesPerPacket));
        hear(network.pass_on());
    }
    hear(network.send_due(UINT64_MAX));
    auto expected = VitaPackets::numbers(0, kPackets * kSamplesPerPacket);
    for (const std::uint64_t lost : network.lost())
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(lost * kMostVitaPayloadBytes),
                    kMostVitaPayloadBytes, std::byte{});
    REQUIRE(network.lost().size() > 10);
    for (Listener* listener : {&first, &second}) {
        listener->stream.finish();
        listener->keep();
        CHECK(listener->stream.losses().gaps == network.gaps());
        CHECK(listener->stream.losses().samples == network.lost().size() * kSamplesPerPacket);
        CHECK(listener->stream.counts().remarks().empty());
        CHECK(listener->samples == expected);
    }
}

}  // namespace tidemill::io

#include "tidemill/io/network/udp_sender.hpp"

#include <array>
#include <stdexcept>
#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

// A socket that listens on a free port of this machine.
class Listener {
  public:
    explicit Listener(std::uint16_t port = 0) : socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
            throw std::runtime_error("no socket");
        }
        socklen_t length = sizeof address;
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
        port_ = ntohs(address.sin_port);
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() { close(); }

    void close() {
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
    }
    std::uint16_t port() const { return port_; }
    std::size_t receive(std::span<std::uint8_t> to) {
        return static_cast<std::size_t>(::recv(socket_, to.data(), to.size(), 0));
    }

  private:
    int socket_;
    std::uint16_t port_ = 0;
};

}  // namespace

TEST_CASE("udp: places are host and port, and nothing else") {
    CHECK(parse_udp_url("udp://localhost:1234").host == "localhost");
    CHECK(parse_udp_url("udp://239.1.2.3:5000").port == 5000);
    CHECK(parse_udp_url("udp://[::1]:5000").host == "::1");
    CHECK_FALSE(is_udp_url("video.ts"));
    for (const char* text : {"udp://", "udp://x", "udp://x:", "udp://:5", "udp://x:0", "udp://x:65536",
                             "udp://x:1y", "udp://[]:5", "tcp://x:5"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_udp_url(text), IoError);
    }
    CHECK_THROWS_AS(UdpSender({"no.such.host.invalid", 5}), IoError);
}

TEST_CASE("udp: datagrams arrive whole, and a peer that vanishes is counted and no error") {
    Listener listener;
    UdpSender sender({"127.0.0.1", listener.port()});
    std::vector<std::uint8_t> datagram(1316, 7);
    sender.send(datagram);
    std::array<std::uint8_t, 2000> got{};
    CHECK(listener.receive(got) == 1316);
    CHECK(got[1315] == 7);
    listener.close();
    for (int i = 0; i < 10; ++i) CHECK_NOTHROW(sender.send(datagram));
    CHECK(sender.refused() == 9);  // the answer to the last one has not been asked for
    CHECK(sender.sent() == 11);
}

TEST_CASE("udp: a peer that comes back gets the next datagram, whatever was answered to those before") {
    Listener gone;
    UdpSender sender({"127.0.0.1", gone.port()});
    gone.close();
    sender.send(std::vector<std::uint8_t>(1316, 7));
    Listener back(gone.port());
    sender.send(std::vector<std::uint8_t>(188, 8));
    std::array<std::uint8_t, 2000> got{};
    CHECK(back.receive(got) == 188);
    CHECK(sender.refused() == 1);
}

TEST_CASE("udp: what goes to a group goes through the interface and as far as the place says") {
    const NetworkAddress group = parse_udp_url("udp://239.1.2.3:5000?interface=lo&ttl=4");
    CHECK(group.host == "239.1.2.3");
    CHECK(group.port == 5000);
    CHECK(group.interface == "lo");
    CHECK(group.ttl == 4);
    CHECK(parse_datagram_url("rtp", "rtp://[ff15::1]:5004?ttl=0").ttl == 0);
    for (const char* text :
         {"udp://239.1.2.3:5000?ttl=", "udp://239.1.2.3:5000?ttl=256", "udp://239.1.2.3:5000?ttl=-1",
          "udp://239.1.2.3:5000?ttl=4x", "udp://239.1.2.3:5000?loop=1"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_udp_url(text), IoError);
    }
    CHECK_THROWS_AS(UdpSender(parse_udp_url("udp://127.0.0.1:5000?ttl=4")), IoError);
    CHECK_THROWS_AS(UdpSender(parse_udp_url("udp://239.1.2.3:5000?interface=no-such")), IoError);
    CHECK_NOTHROW(UdpSender(parse_udp_url("udp://239.1.2.3:5000?interface=lo&ttl=4")));
}

}  // namespace tidemill::io

#include "tidemill/io/network/tcp_broadcaster.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/testing/loopback_server.hpp"

namespace tidemill::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::chrono::milliseconds kPatience{2000};

std::uint16_t free_port() {
    return LoopbackServer().port();
}

}  // namespace

TEST_CASE("TCP broadcaster: all who have connected get what comes from then on") {
    const std::uint16_t port = free_port();
    TcpBroadcaster stream({"127.0.0.1", port});
    stream.write(Bytes(188, 'a'));  // nobody there
    const LoopbackPeer first(LoopbackPeer::connect(port));
    stream.write(Bytes(188, 'b'));
    const LoopbackPeer second(LoopbackPeer::connect(port));
    stream.write(Bytes(188, 'c'));
    CHECK(stream.listening() == 2);
    stream.close(kPatience);
    CHECK(first.receive(1000) == std::string(188, 'b') + std::string(188, 'c'));
    CHECK(second.receive(1000) == std::string(188, 'c'));
    CHECK(stream.counts().clients == 2);
    CHECK(stream.counts().bytes_lost == 0);
}

TEST_CASE("TCP broadcaster: who reads nothing loses whole pieces, counted, and the others lose none") {
    const std::uint16_t port = free_port();
    constexpr std::size_t kPiece = 188 * 1000, kPieces = 200;
    TcpBroadcaster stream({"127.0.0.1", port}, {.clients = 2, .waiting_bytes = 2 * kPiece});
    const LoopbackPeer asleep(LoopbackPeer::connect(port));
    const LoopbackPeer reads(LoopbackPeer::connect(port));
    std::string got;
    for (std::size_t piece = 0; piece < kPieces; ++piece) {
        stream.write(Bytes(kPiece, static_cast<std::uint8_t>(piece)));
        got += reads.receive(kPiece);
    }
    CHECK(got.size() == kPiece * kPieces);
    CHECK(stream.counts().clients_slow == 1);
    CHECK(stream.counts().bytes_lost > kPiece * kPieces / 4);
    const std::uint64_t lost_before = stream.counts().bytes_lost;
    CHECK(lost_before % kPiece == 0);
    stream.close(std::chrono::milliseconds(1));
    CHECK(asleep.receive(kPiece * kPieces).size() + stream.counts().bytes_lost == kPiece * kPieces);
}

TEST_CASE("TCP broadcaster: no more than so many are let in, and a place that becomes free is given again") {
    const std::uint16_t port = free_port();
    TcpBroadcaster stream({"127.0.0.1", port}, {.clients = 1});
    {
        const LoopbackPeer first(LoopbackPeer::connect(port));
        const LoopbackPeer second(LoopbackPeer::connect(port));
        stream.write(Bytes(188));
        CHECK(stream.listening() == 1);
        CHECK(stream.counts().clients_refused == 1);
        CHECK(second.receive(1).empty());
    }
    for (int writes = 0; writes < 1000 && stream.listening() > 0; ++writes) stream.write(Bytes(188));
    const LoopbackPeer third(LoopbackPeer::connect(port));
    stream.write(Bytes(188));
    CHECK(stream.listening() == 1);
    CHECK(third.receive(188).size() == 188);
}

TEST_CASE("TCP broadcaster: a port in use is told") {
    const LoopbackServer other;
    CHECK_THROWS_WITH_AS(TcpBroadcaster({"127.0.0.1", other.port()}), doctest::Contains("cannot listen at"),
                         IoError);
}

}  // namespace tidemill::io

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/io/network/network_address.hpp"

namespace tidemill::io {

/// How many may listen to a TcpBroadcaster, and how far one may fall behind.
struct BroadcastLimits {
    std::size_t clients = 16;
    std::size_t waiting_bytes = 4 << 20;  ///< for one client
};

/// Counts of the clients that connected.
struct BroadcastCounts {
    std::uint64_t clients = 0;          ///< clients let in, in all
    std::uint64_t clients_refused = 0;  ///< there was no place for them
    std::uint64_t clients_slow = 0;     ///< clients that have lost something
    std::uint64_t bytes_lost = 0;       ///< by clients that read too slowly, added up
};

/// Sends a stream over TCP to all clients, from where it is then. Never waits: a client that reads too slowly
/// loses whole pieces, and no other does. Does its work when it is written to; one thread.
class TcpBroadcaster {
  public:
    /// Listens; throws IoError when that is not possible.
    explicit TcpBroadcaster(const NetworkAddress& at, const BroadcastLimits& limits = {});
    TcpBroadcaster(const TcpBroadcaster&) = delete;
    TcpBroadcaster& operator=(const TcpBroadcaster&) = delete;
    ~TcpBroadcaster();

    /// Lets clients in, and sends a piece to all.
    void write(std::span<const std::uint8_t> piece);

    /// Sends what waits to clients that take it so soon, and hangs up.
    void close(std::chrono::milliseconds patience);

    std::size_t listening() const { return clients_.size(); }
    const BroadcastCounts& counts() const { return counts_; }

  private:
    struct Client {
        int socket;
        std::vector<std::uint8_t> waiting{};
        std::size_t sent = 0;  // of these
        bool is_slow = false;
        bool is_gone = false;

        std::size_t left() const { return waiting.size() - sent; }
    };

    void let_in();
    void give(Client& client, std::span<const std::uint8_t> piece);
    static void send_waiting(Client& client);
    void forget_those_gone();

    BroadcastLimits limits_;
    int socket_ = -1;
    std::vector<Client> clients_{};
    BroadcastCounts counts_{};
};

}  // namespace tidemill::io

#pragma once

#include <filesystem>
#include <memory>

#include <netdb.h>

#include "tidemill/io/network/network_address.hpp"

namespace tidemill::io::internal {

/// A connection over TCP that is on its way: asked for, or waited for. The caller waits by poll().
class TcpOpening {
  public:
    /// Begins to connect to a place, whose addresses are tried in turn. Throws IoError.
    static TcpOpening connect(const NetworkAddress& to, const std::filesystem::path& name);
    /// Begins to listen at one, for a single connection. Throws IoError.
    static TcpOpening listen(const NetworkAddress& at, const std::filesystem::path& name);
    TcpOpening(TcpOpening&& other) noexcept;
    TcpOpening& operator=(TcpOpening&&) = delete;
    ~TcpOpening();

    int descriptor() const { return socket_; }
    /// Events to wait for there.
    short events() const;

    /// Once that has come: the connection, which is the caller's; -1 when another address is tried, or the
    /// client has left. Throws IoError when there is no other.
    int finish();

  private:
    using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

    TcpOpening(const NetworkAddress& address, std::filesystem::path name, bool listens);
    void open_next(int why_not);
    bool begin_at(const addrinfo& address) const;

    std::filesystem::path name_;
    bool listens_;
    Addresses all_;
    const addrinfo* next_;
    int socket_ = -1;
};

}  // namespace tidemill::io::internal

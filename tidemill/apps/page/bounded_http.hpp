#pragma once

#ifdef TIDEMILL_HAS_HTTPLIB

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <httplib.h>

namespace tidemill::page {

/// Connections whose request is not there yet. Any thread may ask.
class HalfOpen {
  public:
    void add(int socket);
    /// Before it is closed, or once it is answered; may be gone already.
    void remove(int socket);
    /// Ends the one that has been there the longest; false: there is none.
    bool end_oldest();

  private:
    std::mutex mutex_;
    std::deque<int> sockets_{};
};

/// Threads for connections, started as they are needed. When all are taken, a new client replaces the oldest
/// that has not asked for anything yet; where all have, it is turned away.
class ConnectionThreads final : public httplib::TaskQueue {
  public:
    ConnectionThreads(std::size_t most, HalfOpen& half_open) : most_(most), half_open_(half_open) {}

    void enqueue(std::function<void()> serve) override;
    void shutdown() override;

    /// Whether the connection that this thread serves is to be closed at once.
    static bool turns_away();

  private:
    /// The connection to turn away; none where all have a place.
    std::function<void()> hand_over(std::function<void()>& serve);
    bool start_one();
    bool take(std::function<void()>& serve);
    void work();

    std::size_t most_;
    HalfOpen& half_open_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> waiting_;
    std::size_t idle_ = 0;
    bool over_ = false;
    std::vector<std::jthread> threads_;
};

/// A server of which nobody takes more than a share: one request a connection, whose head and body must be
/// there within two seconds and hold a few kilobytes. An answer ends when it has waited two seconds for its
/// reader, which earns one second more by each 64 KiB. Ranges and compression are ignored.
class BoundedHttp final : public httplib::Server {
  public:
    /// Behind bind_to_port(): a client that comes with others need not try again a second later.
    void widen_queue();

    HalfOpen& half_open() { return half_open_; }

  private:
    static void answer_plainly(httplib::Request& request);
    bool process_and_close_socket(socket_t socket) override;

    HalfOpen half_open_{};
};

}  // namespace tidemill::page

#endif

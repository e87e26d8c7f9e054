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

/// Threads for connections, started as they are needed; who comes when all are taken is turned away.
class ConnectionThreads final : public httplib::TaskQueue {
  public:
    explicit ConnectionThreads(std::size_t most) : most_(most) {}

    void enqueue(std::function<void()> serve) override;
    void shutdown() override;

    /// Whether the connection that this thread serves is to be closed at once.
    static bool turns_away();

  private:
    bool hand_over(const std::function<void()>& serve);
    bool take(std::function<void()>& serve);
    void work();

    std::size_t most_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> waiting_;
    std::size_t idle_ = 0;
    bool over_ = false;
    std::vector<std::jthread> threads_;
};

/// A server of which nobody takes more than a share: one request a connection, whose head and body must be
/// there within two seconds and hold a few kilobytes; an answer that is not read for so long ends, too.
class BoundedHttp final : public httplib::Server {
  public:
    /// Behind bind_to_port(): who comes while others come, too, has not to knock again a second later.
    void widen_queue();

  private:
    bool process_and_close_socket(socket_t socket) override;
};

}  // namespace tidemill::page

#endif

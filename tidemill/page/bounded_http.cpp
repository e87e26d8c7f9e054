#include "tidemill/page/bounded_http.hpp"

#ifdef TIDEMILL_HAS_HTTPLIB

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tidemill/platform/start_thread.hpp"

namespace tidemill::page {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 2s;
constexpr int kWaitingConnections = 128;
constexpr std::size_t kMostRequestBytes = 32 << 10;

thread_local bool turns_away_now = false;

/// Turns away while it lives.
struct TurnedAway {
    TurnedAway() { turns_away_now = true; }
    ~TurnedAway() { turns_away_now = false; }
};

bool wait_for(int socket, short event, std::chrono::steady_clock::duration at_most) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(at_most).count();
    pollfd one{socket, event, 0};
    return ms > 0 && ::poll(&one, 1, static_cast<int>(ms)) > 0;
}

/// A connection whose request is bounded in bytes and time, and each piece of its answer in time.
class BoundedStream final : public httplib::Stream {
  public:
    explicit BoundedStream(int socket) : socket_(socket) {}

    bool is_readable() const override { return at_ < end_ || left() > 0s; }
    bool is_writable() const override { return wait_for(socket_, POLLOUT, kPatience); }

    ssize_t read(char* to, std::size_t size) override {
        if (at_ == end_ && !refill()) return -1;
        const std::size_t some = std::min(size, end_ - at_);
        std::memcpy(to, buffer_.data() + at_, some);
        at_ += some;
        return static_cast<ssize_t>(some);
    }

    ssize_t write(const char* bytes, std::size_t size) override {
        if (!is_writable()) return -1;
        return ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    }

    void get_remote_ip_and_port(std::string&, int&) const override {}
    void get_local_ip_and_port(std::string&, int&) const override {}
    socket_t socket() const override { return socket_; }

  private:
    std::chrono::steady_clock::duration left() const {
        return start_ + kPatience - std::chrono::steady_clock::now();
    }

    bool refill() {
        if (read_ >= kMostRequestBytes || !wait_for(socket_, POLLIN, left())) return false;
        const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
        if (got <= 0) return false;
        at_ = 0;
        end_ = static_cast<std::size_t>(got);
        read_ += end_;
        return true;
    }

    int socket_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::array<char, 4096> buffer_{};
    std::size_t at_ = 0, end_ = 0, read_ = 0;
};

// What is still on its way in would make the system throw the answer away.
void close_gently(int socket) {
    ::shutdown(socket, SHUT_WR);
    std::array<char, 4096> rest;
    const auto end = std::chrono::steady_clock::now() + 200ms;
    while (wait_for(socket, POLLIN, end - std::chrono::steady_clock::now()) &&
           ::recv(socket, rest.data(), rest.size(), 0) > 0) {
    }
    ::close(socket);
}

}  // namespace

bool ConnectionThreads::turns_away() {
    return turns_away_now;
}

void ConnectionThreads::enqueue(std::function<void()> serve) {
    if (hand_over(serve)) return;
    const TurnedAway turned_away;
    serve();
}

bool ConnectionThreads::hand_over(const std::function<void()>& serve) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= idle_) {
        if (threads_.size() >= most_) return false;
        try {
            threads_.push_back(start_thread([this](const std::stop_token&) { work(); }));
        } catch (const NoMoreThreads&) {
            return false;
        }
    }
    waiting_.push_back(serve);
    wake_.notify_one();
    return true;
}

void ConnectionThreads::shutdown() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    wake_.notify_all();
    threads_.clear();
}

bool ConnectionThreads::take(std::function<void()>& serve) {
    std::unique_lock lock(mutex_);
    ++idle_;
    wake_.wait(lock, [this] { return over_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return false;
    serve = std::move(waiting_.front());
    waiting_.pop_front();
    return true;
}

void ConnectionThreads::work() {
    for (std::function<void()> serve; take(serve);) serve();
}

void BoundedHttp::widen_queue() {
    ::listen(svr_sock_, kWaitingConnections);
}

bool BoundedHttp::process_and_close_socket(socket_t socket) {
    if (ConnectionThreads::turns_away()) {
        ::close(socket);
        return false;
    }
    BoundedStream stream(socket);
    bool closed = false;
    const bool served = process_request(stream, true, closed, nullptr);
    close_gently(socket);
    return served;
}

}  // namespace tidemill::page

#endif

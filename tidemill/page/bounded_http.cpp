#include "tidemill/page/bounded_http.hpp"

#ifdef TIDEMILL_HAS_HTTPLIB

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tidemill/platform/start_thread.hpp"

namespace tidemill::page {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 2s;
constexpr std::size_t kWaitingConnections = 128;
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
    BoundedStream(int socket, HalfOpen& half_open) : socket_(socket), half_open_(half_open) {
        half_open_.add(socket_);
    }
    ~BoundedStream() override { half_open_.remove(socket_); }
    BoundedStream(const BoundedStream&) = delete;
    BoundedStream& operator=(const BoundedStream&) = delete;

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
        if (!std::exchange(is_answered_, true)) half_open_.remove(socket_);
        if (!is_writable()) return -1;
        return ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    }

    void get_remote_ip_and_port(std::string& address, int& port) const override {
        sockaddr_storage peer{};
        socklen_t size = sizeof peer;
        std::array<char, INET6_ADDRSTRLEN> text{};
        if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return;
        if (peer.ss_family == AF_INET) {
            const auto& four = reinterpret_cast<const sockaddr_in&>(peer);
            address = ::inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
            port = ntohs(four.sin_port);
        } else if (peer.ss_family == AF_INET6) {
            const auto& six = reinterpret_cast<const sockaddr_in6&>(peer);
            address = ::inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
            port = ntohs(six.sin6_port);
        }
    }
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
    HalfOpen& half_open_;
    bool is_answered_ = false;
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

void HalfOpen::add(int socket) {
    const std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
}

void HalfOpen::remove(int socket) {
    const std::lock_guard lock(mutex_);
    std::erase(sockets_, socket);
}

bool HalfOpen::end_oldest() {
    const std::lock_guard lock(mutex_);
    if (sockets_.empty()) return false;
    ::shutdown(sockets_.front(), SHUT_RDWR);
    sockets_.pop_front();
    return true;
}

bool ConnectionThreads::turns_away() {
    return turns_away_now;
}

void ConnectionThreads::enqueue(std::function<void()> serve) {
    const std::function<void()> without_place = hand_over(std::move(serve));
    if (!without_place) return;
    const TurnedAway turned_away;
    without_place();
}

std::function<void()> ConnectionThreads::hand_over(std::function<void()> serve) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < idle_ || start_one() ||
        (waiting_.size() < kWaitingConnections && half_open_.end_oldest())) {
        waiting_.push_back(std::move(serve));
        serve = nullptr;
    } else if (!waiting_.empty()) {
        // Nobody knows yet what those want that wait.
        waiting_.push_back(std::move(serve));
        serve = std::move(waiting_.front());
        waiting_.pop_front();
    }
    wake_.notify_one();
    return serve;
}

bool ConnectionThreads::start_one() {
    if (threads_.size() >= most_) return false;
    try {
        threads_.push_back(start_thread([this](const std::stop_token&) { work(); }));
    } catch (const NoMoreThreads&) {
        return false;
    }
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
    bool served = false;
    {
        BoundedStream stream(socket, half_open_);
        bool closed = false;
        served = process_request(stream, true, closed, nullptr);
    }
    close_gently(socket);
    return served;
}

}  // namespace tidemill::page

#endif

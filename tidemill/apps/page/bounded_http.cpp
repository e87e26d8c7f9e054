#include "tidemill/apps/page/bounded_http.hpp"

#ifdef TIDEMILL_HAS_HTTPLIB

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tidemill/machine/start_thread.hpp"

namespace tidemill::page {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 2s;
constexpr double kSlowestReader_Bps = 65536;
constexpr int kSendBuffer =
    32 << 10;  // a larger one would hold minutes of events for a viewer that reads none
constexpr std::size_t kWaitingConnections = 128;
constexpr std::size_t kMostRequestBytes = 32 << 10;

thread_local bool turns_away_now = false;

/// Turns away while it lives.
struct TurnedAway {
    TurnedAway() { turns_away_now = true; }
    ~TurnedAway() { turns_away_now = false; }
};

/// The time that an answer may spend waiting for its reader: it is used up by waiting and earned again by
/// what is read.
class ReaderPatience {
  public:
    std::chrono::steady_clock::duration left() const { return left_; }
    void waited(std::chrono::steady_clock::duration time) { left_ -= time; }
    void took(std::size_t bytes) {
        const std::chrono::duration<double> earned(static_cast<double>(bytes) / kSlowestReader_Bps);
        const auto sum = left_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(earned);
        left_ = std::min<std::chrono::steady_clock::duration>(sum, kPatience);
    }

  private:
    std::chrono::steady_clock::duration left_ = kPatience;
};

bool wait_for(int socket, short event, std::chrono::steady_clock::duration at_most) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(at_most).count();
    pollfd one{socket, event, 0};
    return ms > 0 && ::poll(&one, 1, static_cast<int>(ms)) > 0;
}

/// A connection whose request is bounded in bytes and time, and whose answer waits for its reader only so
/// long.
class BoundedStream final : public httplib::Stream {
  public:
    BoundedStream(int socket, HalfOpen& half_open) : socket_(socket), half_open_(half_open) {
        ::setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
        half_open_.add(socket_);
    }
    ~BoundedStream() override { half_open_.remove(socket_); }
    BoundedStream(const BoundedStream&) = delete;
    BoundedStream& operator=(const BoundedStream&) = delete;

    bool is_readable() const override { return at_ < end_ || left() > 0s; }
    bool is_writable() const override {
        const auto begun = std::chrono::steady_clock::now();
        const bool is_ready = wait_for(socket_, POLLOUT, patience_.left());
        patience_.waited(std::chrono::steady_clock::now() - begun);
        return is_ready;
    }

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
        const ssize_t sent = ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) patience_.took(static_cast<std::size_t>(sent));
        return sent;
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
        hide_ranges();
        return true;
    }

    // The library reads the header Range by a regular expression, which takes megabytes of stack for
    // kilobytes of text: its name becomes another one, that nobody reads.
    void hide_ranges() {
        constexpr std::string_view kName = "range";
        for (char& letter : std::span(buffer_).first(end_)) {
            if (is_body_) return;
            if (letter == '\n') {
                is_body_ = std::exchange(line_bytes_, 0) == 0;
                in_name_ = 0;
            } else if (letter != '\r') {
                const bool fits = in_name_ == line_bytes_ && in_name_ < kName.size() &&
                                  std::tolower(static_cast<unsigned char>(letter)) == kName[in_name_];
                if (fits && ++in_name_ == kName.size()) letter = 'x';
                ++line_bytes_;
            }
        }
    }

    int socket_;
    HalfOpen& half_open_;
    mutable ReaderPatience patience_{};  // the library asks a constant stream whether it is writable
    bool is_answered_ = false;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::array<char, 4096> buffer_{};
    std::size_t at_ = 0, end_ = 0, read_ = 0;
    std::size_t line_bytes_ = 0, in_name_ = 0;  // of the head's line that is read, and of a name within it
    bool is_body_ = false;
};

// Data still on their way in would make the system throw the answer away.
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
    try {
        serve = hand_over(serve);
    } catch (const std::bad_alloc&) {  // this connection is turned away
    }
    if (!serve) return;
    const TurnedAway turned_away;
    serve();
}

std::function<void()> ConnectionThreads::hand_over(std::function<void()>& serve) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < idle_ || start_one() ||
        (waiting_.size() < kWaitingConnections && half_open_.end_oldest())) {
        waiting_.push_back(serve);
        wake_.notify_one();
        return nullptr;
    }
    if (waiting_.empty()) return serve;
    waiting_.push_back(serve);  // the one that has waited longest is turned away instead
    std::function<void()> oldest = std::move(waiting_.front());
    waiting_.pop_front();
    wake_.notify_one();
    return oldest;
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

// A compressor per answer takes tens of megabytes.
void BoundedHttp::answer_plainly(httplib::Request& request) {
    request.headers.erase("Accept-Encoding");
}

bool BoundedHttp::process_and_close_socket(socket_t socket) {
    if (ConnectionThreads::turns_away()) {
        ::close(socket);
        return false;
    }
    bool served = false;
    try {
        BoundedStream stream(socket, half_open_);
        bool closed = false;
        served = process_request(stream, true, closed, answer_plainly);
    } catch (
        const std::exception&) {  // without memory for the answer, the connection ends and the page goes on
    }
    close_gently(socket);
    return served;
}

}  // namespace tidemill::page

#endif

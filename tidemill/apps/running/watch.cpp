#include "tidemill/apps/running/watch.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/machine/start_thread.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

constexpr std::array kEndings = {SIGINT, SIGTERM, SIGHUP};

// A signal sets it in one thread, another one looks.
std::atomic<bool> asked_to_end = false;
static_assert(std::atomic<bool>::is_always_lock_free, "else no signal may touch it");

// When a signal did so first, by the monotonic clock; 0: none has. What comes right behind it is the same
// wish: timeout(1) signals the program and its process group, a shell its job and its terminal.
std::atomic<std::int64_t> first_signal_ns = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "else no signal may touch it");
constexpr std::int64_t kSameWish_ns = 200'000'000;

// That of <chrono> is not promised to be safe in a signal handler.
std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// A user that started the program with nohup wants it to outlive the terminal.
bool is_ignored(int ending) {
    struct sigaction now {};
    return sigaction(ending, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void listen_no_more() {
    for (const int ending : kEndings) {
        if (!is_ignored(ending)) std::signal(ending, SIG_DFL);
    }
}

void on_ending(int ending) {
    const std::int64_t now = now_ns();
    std::int64_t first = 0;
    if (first_signal_ns.compare_exchange_strong(first, now) || now - first < kSameWish_ns) {
        asked_to_end = true;
        return;
    }
    std::signal(ending, SIG_DFL);
    std::raise(ending);  // once this handler is left
}

// The first and the last of nested listeners count.
std::atomic<int> listeners = 0;

void listen() {
    if (listeners++ > 0) return;
    asked_to_end = false;
    first_signal_ns = 0;
    for (const int ending : kEndings) {
        if (ending != SIGHUP || !is_ignored(ending)) std::signal(ending, on_ending);
    }
}

void stop_listening() {
    if (--listeners == 0) listen_no_more();
}

}  // namespace

Listening::Listening(const std::stop_token& outside) : outside_(outside) {
    if (!outside_.stop_possible()) listen();
}

Listening::~Listening() {
    if (!outside_.stop_possible()) stop_listening();
}

bool Listening::wants_end() const {
    return outside_.stop_possible() ? outside_.stop_requested() : asked_to_end.load();
}

void ask_to_end() noexcept {
    asked_to_end = true;
}

bool Watch::draws() {
    return isatty(STDERR_FILENO) == 1;
}

void Watch::tell_line(const std::string& line) {
    if (draws()) draw("\r\x1b[K");
    tell("{}\n", line);
}

Watch::Watch(std::function<std::string()> line, const std::stop_token& outside)
    : line_(std::move(line)), terminal_(draws()) {
    if (outside.stop_possible()) {
        pass_on_.emplace(outside, PassOn{stop_});
        return;
    }
    listening_.emplace(outside);
    thread_ = start_thread([this](const std::stop_token& done) { look_after(done); });
}

Watch::~Watch() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
    show(true);
}

void Watch::sleep_until(std::chrono::steady_clock::time_point time) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, stop_.get_token(), time, [] { return false; });
}

void Watch::look_after(const std::stop_token& done) {
    using namespace std::chrono_literals;
    const auto period = terminal_ ? 100ms : 2000ms;
    auto next = std::chrono::steady_clock::now() + period;
    std::unique_lock lock(mutex_);
    while (!done.stop_requested()) {
        wake_.wait_for(lock, done, 50ms, [] { return false; });
        if (asked_to_end) stop_.request_stop();
        if (done.stop_requested() || std::chrono::steady_clock::now() < next) continue;
        next += period;
        show(false);
    }
}

void Watch::show(bool last) {
    if (!line_) return;
    if (terminal_) {
        draw(fmt::format("\r{}\x1b[K{}", line_(), last ? "\n" : ""));
    } else if (std::string line = line_(); !line.empty() && line != told_) {  // a log says it once
        tell("{}\n", line);
        told_ = std::move(line);
    }
}

}  // namespace tidemill::cli

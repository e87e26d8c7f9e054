#include "tidemill/cli/watch.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace tidemill::cli {

namespace {

volatile std::sig_atomic_t interrupt_count = 0;

void on_interrupt(int) {
    interrupt_count = interrupt_count + 1;
    std::signal(SIGINT, SIG_DFL);  // the next one ends the program
}

}  // namespace

Watch::Watch(std::function<std::string()> line)
    : line_(std::move(line)),
      terminal_(isatty(STDERR_FILENO) == 1),
      thread_([this](const std::stop_token& done) { look_after(done); }) {
    interrupt_count = 0;
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
}

Watch::~Watch() {
    thread_.request_stop();
    thread_.join();
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    show(true);
}

void Watch::look_after(const std::stop_token& done) {
    using namespace std::chrono_literals;
    const auto period = terminal_ ? 100ms : 2000ms;
    auto next = std::chrono::steady_clock::now() + period;
    std::unique_lock lock(mutex_);
    while (!done.stop_requested()) {
        wake_.wait_for(lock, done, 50ms, [] { return false; });
        if (interrupt_count > 0) stop_.request_stop();
        if (done.stop_requested() || std::chrono::steady_clock::now() < next) continue;
        next += period;
        show(false);
    }
}

void Watch::show(bool last) {
    if (terminal_) {
        fmt::print(stderr, "\r{}\x1b[K{}", line_(), last ? "\n" : "");
    } else {
        fmt::print(stderr, "{}\n", line_());
    }
    std::fflush(stderr);
}

}  // namespace tidemill::cli

#include "tidemill/options/standard_streams.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/plain_text.hpp"

namespace tidemill::cli {

namespace {

// open() takes the lowest free number, so a closed one is filled before the next is looked at.
void fill_if_closed(int descriptor, int mode) {
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) open("/dev/null", mode);
}

int first_error = 0;  // of standard output

void write_message(std::string_view text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
}

std::atomic<void (*)(std::string_view) noexcept> take_message = write_message;

}  // namespace

void secure_standard_streams() {
    // The wrong way round, so that using them fails instead of looking like a result that arrived.
    fill_if_closed(STDIN_FILENO, O_WRONLY);
    fill_if_closed(STDOUT_FILENO, O_RDONLY);
    fill_if_closed(STDERR_FILENO, O_RDONLY);
    // Handlers, because programs that are started from here would inherit that signals are ignored.
    std::signal(SIGPIPE, [](int) {});
    std::signal(SIGXFSZ, [](int) {});
}

void tell(std::string_view text) noexcept {
    draw(plain_text(text));
}

void warn(std::string_view warning) noexcept {
    draw("warning: " + plain_line(warning) + "\n");
}

void draw(std::string_view text) noexcept {
    take_message.load()(text);
}

void hand_messages_to(void (*take)(std::string_view text) noexcept) noexcept {
    take_message = take;
}

void print(std::string_view text) noexcept {
    const std::string plain = plain_text(text);
    errno = 0;
    if (std::fwrite(plain.data(), 1, plain.size(), stdout) < plain.size() && first_error == 0)
        first_error = errno;
}

void report(std::string_view text, bool data_on_output) noexcept {
    data_on_output ? tell(text) : print(text);
}

void flush_results() {
    if (std::fflush(stdout) != 0 && first_error == 0) first_error = errno;
    if (std::ferror(stdout) != 0 && first_error == 0) first_error = EIO;
    if (first_error == 0) return;
    throw JobFailed(fmt::format("cannot write to standard output: {}", std::strerror(first_error)));
}

}  // namespace tidemill::cli

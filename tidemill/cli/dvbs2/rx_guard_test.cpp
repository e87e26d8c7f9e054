// Unattended receptions: they end by policy, and report their state to systemd.
#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;

const std::vector<std::string> kFromPipe{"--format", "ci8", "--rate", "2M", "-o", "/dev/null"};

std::vector<std::string> rx_of(const std::string& place, const std::vector<std::string>& more) {
    std::vector<std::string> words{"dvbs2", "rx", place};
    words.insert(words.end(), kFromPipe.begin(), kFromPipe.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// A named pipe from which no sample ever comes, though it stays open.
class SilentPipe {
  public:
    SilentPipe() : path_(folder_ / "pipe") {
        REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
        end_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    }
    SilentPipe(const SilentPipe&) = delete;
    SilentPipe& operator=(const SilentPipe&) = delete;
    ~SilentPipe() { ::close(end_); }

    const std::string& path() const { return path_; }
    void write(const std::string& bytes) const {
        for (std::size_t at = 0; at < bytes.size();) {
            const ssize_t some = ::write(end_, bytes.data() + at, bytes.size() - at);
            REQUIRE(some > 0);
            at += static_cast<std::size_t>(some);
        }
    }

  private:
    ScratchFolder folder_;
    std::string path_;
    int end_ = -1;
};

}  // namespace

TEST_CASE("rx --exit-on: a radio that gives nothing ends the reception, with a status of its own") {
    const SilentPipe pipe;
    const Ended ended = run_program(rx_of(pipe.path(), {"--exit-on", "no-samples:500ms"}));
    CHECK(ended.status == 4);
    CHECK(says(ended.err, "--exit-on no-samples:500ms ended the reception"));
}

TEST_CASE("rx --exit-on: what was received until then is reported") {
    const SilentPipe pipe;
    Program receiver(rx_of(
        pipe.path(), {"--symbol-rate", "1M", "--exit-on", "no-lock:300s", "--exit-on", "no-samples:1s"}));
    pipe.write(small_recording().bytes());
    const Ended ended = receiver.finish();
    CHECK(ended.status == 4);
    CHECK(says(ended.out, "bad frames 0   continuity errors 0\n"));
    CHECK(says(ended.err, "   lock   QPSK 8/9 short   Es/N0 "));
}

TEST_CASE(
    "rx --seconds: ends a reception that gets nothing, too, before its first sample and behind its last") {
    const SilentPipe silent;
    const Ended nothing = run_program(rx_of(silent.path(), {"--seconds", "0.5"}));
    CHECK(nothing.status == 1);
    CHECK(says(nothing.err, "after 0 samples"));
    const SilentPipe pipe;
    Program receiver(rx_of(pipe.path(), {"--symbol-rate", "1M", "--seconds", "1.5"}));
    pipe.write(small_recording().bytes());
    const Ended ended = receiver.finish();
    CHECK(ended.status == 0);
    CHECK(says(ended.out, "bad frames 0   continuity errors 0\n"));
}

TEST_CASE("rx --seconds: bounds also what is looked at of a slow input before it is received") {
    const SilentPipe pipe;
    Program receiver(rx_of(pipe.path(), {"--carrier", "all", "--seconds", "0.5"}));
    pipe.write(small_recording().bytes());  // far less than is looked at for carriers
    const Ended ended = receiver.finish();
    CHECK(ended.status == 1);
    CHECK(says(ended.err, "--seconds: the time was over before all samples had come"));
    CHECK(says(ended.err, "interrupted before the carriers were found"));
}

TEST_CASE("rx: a source that stands still holds no lock, and that is said") {
    const SilentPipe pipe;
    Program receiver(rx_of(pipe.path(), {"--symbol-rate", "1M", "--exit-on", "no-lock:1500ms"}));
    pipe.write(small_recording().bytes());
    const Ended ended = receiver.finish();
    CHECK(ended.status == 4);
    CHECK(says(ended.err, "   lock   QPSK 8/9 short   Es/N0 "));
    CHECK(says(ended.err, "   no samples   bad frames 0   continuity errors 0\n"));
    CHECK(says(ended.err, "--exit-on no-lock:1500ms ended the reception"));
}

TEST_CASE("rx: systemd is told that the reception is ready, alive, and over") {
    const ScratchFolder folder;
    const int systemd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    const std::string place = folder / "notify";
    std::memcpy(at.sun_path, place.data(), place.size());
    REQUIRE(::bind(systemd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    setenv("NOTIFY_SOCKET", place.c_str(), 1);
    setenv("WATCHDOG_USEC", "300000", 1);
    const SilentPipe pipe;
    Program receiver(rx_of(pipe.path(), {"--symbol-rate", "1M"}));
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    pipe.write(small_recording().bytes());
    const auto wait_for = [&](const std::string& state) {
        char text[512];
        for (;;) {
            const ssize_t got = ::recv(systemd, text, sizeof text, 0);
            REQUIRE(got > 0);
            if (std::string(text, static_cast<std::size_t>(got)).starts_with(state)) return;
        }
    };
    wait_for("READY=1");
    for (int i = 0; i < 3; ++i) wait_for("WATCHDOG=1");  // also while no sample comes
    receiver.interrupt();
    wait_for("STOPPING=1");
    CHECK(receiver.finish().status == 0);
    ::close(systemd);
}

}  // namespace tidemill::cli

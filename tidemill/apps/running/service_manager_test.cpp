#include "tidemill/apps/running/service_manager.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::cli {
namespace {

// Socket at which systemd listens.
class NotifySocket {
  public:
    explicit NotifySocket(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        std::memcpy(at.sun_path, path.data(), path.size());
        REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    }
    NotifySocket(const NotifySocket&) = delete;
    NotifySocket& operator=(const NotifySocket&) = delete;
    ~NotifySocket() { ::close(socket_); }

    std::string next() const {
        char text[256];
        const ssize_t got = ::recv(socket_, text, sizeof text, MSG_DONTWAIT);
        return got < 0 ? "nothing" : std::string(text, static_cast<std::size_t>(got));
    }

  private:
    int socket_;
};

// The variables of systemd while it lives.
struct Variables {
    Variables(const std::string& pid, const std::string& us) {
        setenv("WATCHDOG_PID", pid.c_str(), 1);
        setenv("WATCHDOG_USEC", us.c_str(), 1);
    }
    ~Variables() {
        unsetenv("WATCHDOG_PID");
        unsetenv("WATCHDOG_USEC");
    }
};

}  // namespace

TEST_CASE("service manager: each state is a datagram to its socket") {
    const ScratchFolder folder;
    const NotifySocket systemd(folder / "notify");
    const ServiceManager manager(folder / "notify");
    CHECK(manager.listens());
    manager.tell("READY=1");
    manager.tell("STATUS=locked");
    CHECK(systemd.next() == "READY=1");
    CHECK(systemd.next() == "STATUS=locked");
    CHECK(systemd.next() == "nothing");
}

TEST_CASE("service manager: where nobody listens, or nobody can, nothing happens") {
    ServiceManager("").tell("READY=1");
    ServiceManager("/nowhere/notify").tell("READY=1");
    ServiceManager(std::string(500, 'x')).tell("READY=1");
    CHECK_FALSE(ServiceManager("").listens());
}

TEST_CASE("service manager: signs of life are for the process that is named") {
    {
        const Variables mine(std::to_string(getpid()), "30000000");
        CHECK(ServiceManager().patience() == std::chrono::seconds(30));
    }
    {
        const Variables others("1", "30000000");
        CHECK_FALSE(ServiceManager().patience());
    }
    for (const char* nonsense : {"", "0", "-5", "soon"}) {
        const Variables variables(std::to_string(getpid()), nonsense);
        CHECK_FALSE(ServiceManager().patience());
    }
}

}  // namespace tidemill::cli

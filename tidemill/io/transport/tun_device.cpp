#include "tidemill/io/transport/tun_device.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

[[noreturn]] void fail_tun(const std::string& name, int why) {
    const char* help = "";
    if (why == EPERM || why == EACCES)
        help =
            "; start it with sudo, or make the interface before: sudo ip tuntap add mode tun user $USER dev";
    if (why == EBUSY) help = "; another program has it";
    if (why == ENOENT || why == ENODEV || why == ENXIO) help = "; this system has no TUN: modprobe tun";
    throw IoError(fmt::format("cannot open the interface {}: {}{}", name, std::strerror(why), help));
}

int open_tun(const std::string& name) {
    check_interface_name(name);
    const int device = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0) fail_tun(name, errno);
    ifreq request{};
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    std::memcpy(request.ifr_name, name.c_str(), name.size());
    if (::ioctl(device, TUNSETIFF, &request) == 0) return device;
    const int why = errno;
    ::close(device);
    fail_tun(name, why);
}

std::int64_t steady_seconds() {
    using namespace std::chrono;
    return duration_cast<seconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

// Letters as the kernel takes them; none that it makes a number of.
void check_interface_name(const std::string& name) {
    const bool fine =
        !name.empty() && name.size() < IFNAMSIZ && name != "." && name != ".." &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
            std::string::npos;
    if (!fine)
        throw IoError(
            fmt::format("tun:{} names no interface: give up to {} letters and digits", name, IFNAMSIZ - 1));
}

std::vector<IpAddress> own_addresses() {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0)
        throw IoError(fmt::format("the host does not report its addresses: {}", std::strerror(errno)));
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
    std::vector<IpAddress> own;
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr) continue;
        IpAddress address;
        if (each->ifa_addr->sa_family == AF_INET) {
            std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr,
                        4);
        } else if (each->ifa_addr->sa_family == AF_INET6) {
            address.version = 6;
            std::memcpy(address.bytes.data(),
                        &reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr, 16);
        } else {
            continue;
        }
        own.push_back(address);
    }
    return own;
}

TunDevice::TunDevice(const std::string& name, IpFilter filter)
    : name_(name), device_(open_tun(name)), filter_(std::move(filter)) {}

TunDevice::TunDevice(TunDevice&& other) noexcept
    : name_(std::move(other.name_)),
      device_(std::exchange(other.device_, -1)),
      filter_(std::move(other.filter_)),
      looked_s_(other.looked_s_),
      counts_(other.counts_) {}

TunDevice::~TunDevice() {
    if (device_ >= 0) ::close(device_);
}

void TunDevice::look_at_own(std::int64_t now_s) {
    if (now_s == looked_s_) return;
    filter_.set_own(own_addresses());
    looked_s_ = now_s;
}

void TunDevice::write(std::span<const std::uint8_t> packet) {
    look_at_own(steady_seconds());
    const auto header = parse_ip(packet);
    if (!header || !filter_.passes(*header)) {
        ++counts_.filtered;
        return;
    }
    while (::write(device_, packet.data(), packet.size()) < 0) {
        if (errno == EINTR) continue;
        if (errno == EBADFD || errno == ENODEV) fail_tun(name_, errno);
        ++counts_.not_taken;
        return;
    }
    ++counts_.passed;
}

}  // namespace tidemill::io

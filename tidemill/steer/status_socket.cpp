#include "tidemill/steer/status_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tidemill/base/json_error.hpp"
#include "tidemill/steer/steer_error.hpp"

namespace tidemill::steer {

namespace {

constexpr std::size_t kMostAsking = 16;
constexpr std::chrono::seconds kPatience{2};
constexpr timeval kPatienceOfAsker = {.tv_sec = 5, .tv_usec = 0};
constexpr std::size_t kMostAnswerBytes = 1 << 20;

namespace fs = std::filesystem;

std::string last_error() {
    return std::generic_category().message(errno);
}

fs::path folder_of(uid_t user) {
    if (user == 0) return "/run/tidemill";
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    return runtime != nullptr && *runtime != 0 ? fs::path(runtime) / "tidemill"
                                               : fs::path(fmt::format("/tmp/tidemill-{}", user));
}

/// Whether nobody but `user` puts files into a folder, which is no link.
bool is_folder_of(const fs::path& folder, uid_t user) {
    struct stat found {};
    return lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == user &&
           (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

sockaddr_un address_of(const fs::path& folder, const std::string& name) {
    const std::string path = (folder / (name + ".socket")).string();
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos ||
        path.size() >= sizeof address.sun_path)
        throw SteerError(fmt::format("'{}' cannot name a daemon: give a short file name", name));
    std::ranges::copy(path, address.sun_path);
    return address;
}

int open_socket(int flags) {
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (descriptor < 0) throw SteerError(fmt::format("no socket: {}", last_error()));
    return descriptor;
}

std::optional<ucred> peer_of(int descriptor) {
    ucred peer{};
    socklen_t bytes = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return std::nullopt;
    return peer;
}

/// Connected to a daemon that `user` runs, or less than 0.
int connected_to(const std::string& name, uid_t user) {
    const fs::path folder = folder_of(user);
    const sockaddr_un address = address_of(folder, name);
    if (!is_folder_of(folder, user)) return -1;
    const int descriptor = open_socket(0);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &kPatienceOfAsker, sizeof(kPatienceOfAsker));
    if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        const auto peer = peer_of(descriptor);
        if (peer && peer->uid == user) return descriptor;
    }
    const bool is_refused = errno == EACCES;
    close(descriptor);
    if (is_refused && user == 0)
        throw SteerError(
            "the daemon of this machine is root's: ask it as root (sudo tidemill bridge status)");
    return -1;
}

std::string owner_of(const std::string& name) {
    const int descriptor = connected_to(name, geteuid());
    if (descriptor < 0) return "";
    const auto owner = peer_of(descriptor);
    close(descriptor);
    return owner ? fmt::format(", process {}", owner->pid) : "";
}

std::optional<StatusForm> form_of(char letter) {
    for (const StatusForm form : {StatusForm::text, StatusForm::json, StatusForm::metrics})
        if (letter == static_cast<char>(form)) return form;
    return std::nullopt;
}

}  // namespace

std::filesystem::path daemon_folder() {
    const fs::path folder = folder_of(geteuid());
    std::error_code failed;
    fs::create_directories(folder.parent_path(), failed);
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        throw SteerError(fmt::format("{}: {}", folder.string(), last_error()));
    if (!is_folder_of(folder, geteuid()))
        throw SteerError(
            fmt::format("{} must be a folder of yours into which nobody else writes: remove it, or set "
                        "XDG_RUNTIME_DIR",
                        folder.string()));
    return folder;
}

StatusSocket::StatusSocket(const std::string& name) {
    const fs::path folder = daemon_folder();
    const sockaddr_un address = address_of(folder, name);
    path_ = address.sun_path;
    try {
        lock_.emplace(path_);
    } catch (const JsonError&) {
        throw SteerError(fmt::format(
            "another daemon steers this machine already{}: end it first, or see what it does with "
            "tidemill bridge status",
            owner_of(name)));
    }
    unlink(address.sun_path);  // one that a killed daemon has left
    listening_ = open_socket(SOCK_NONBLOCK);
    if (::bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        chmod(address.sun_path, 0600) == 0 && ::listen(listening_, kMostAsking) == 0)
        return;
    const std::string why = last_error();
    close(listening_);
    throw SteerError(fmt::format("{}: {}", path_, why));
}

StatusSocket::~StatusSocket() {
    for (const Asking& each : asking_) close(each.descriptor);
    unlink(path_.c_str());
    close(listening_);
}

void StatusSocket::let_in() {
    while (asking_.size() < kMostAsking) {
        const int descriptor = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0) return;
        asking_.push_back({.descriptor = descriptor, .until = Clock::now() + kPatience});
    }
}

void StatusSocket::answer(const std::function<std::string(StatusForm)>& status) {
    let_in();
    std::erase_if(asking_, [&](Asking& each) {
        const bool goes_on = each.rest.empty() ? take_request(each, status) : true;
        const bool waits = goes_on && send_rest(each) && Clock::now() < each.until;
        if (!waits) close(each.descriptor);
        return !waits;
    });
}

// False where no request will come.
bool StatusSocket::take_request(Asking& from, const std::function<std::string(StatusForm)>& status) {
    char letter = 0;
    const ssize_t bytes = recv(from.descriptor, &letter, 1, 0);
    if (bytes < 0 && errno == EAGAIN) return true;
    const auto form = form_of(letter);
    if (bytes == 1 && form) from.rest = status(*form);
    return !from.rest.empty();
}

// False where nothing is left to send, or nobody to take it.
bool StatusSocket::send_rest(Asking& to) {
    if (to.rest.empty()) return true;
    const ssize_t sent = send(to.descriptor, to.rest.data(), to.rest.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN;
    to.rest.erase(0, static_cast<std::size_t>(sent));
    to.until = Clock::now() + kPatience;
    return !to.rest.empty();
}

std::string ask_status(const std::string& name, StatusForm form) {
    int descriptor = connected_to(name, geteuid());
    if (descriptor < 0 && geteuid() != 0) descriptor = connected_to(name, 0);
    if (descriptor < 0)
        throw SteerError(fmt::format("no daemon steers this machine; begin with tidemill bridge run"));
    const char letter = static_cast<char>(form);
    std::string answer;
    std::array<char, 4096> part{};
    for (ssize_t bytes = send(descriptor, &letter, 1, MSG_NOSIGNAL);
         bytes > 0 && answer.size() < kMostAnswerBytes;) {
        bytes = recv(descriptor, part.data(), part.size(), 0);
        if (bytes > 0) answer.append(part.data(), static_cast<std::size_t>(bytes));
    }
    close(descriptor);
    if (answer.empty()) throw SteerError("the daemon did not answer within five seconds: is it stopped?");
    if (answer.size() >= kMostAnswerBytes)
        throw SteerError(fmt::format("the daemon's answer is longer than {} bytes", kMostAnswerBytes));
    return answer;
}

}  // namespace tidemill::steer

#include "tidemill/io/live/internal/zmq_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/machine/shared_library.hpp"

namespace tidemill::io::internal {

// The part of libzmq's interface that is used, as its versions 4 have it: so no program need be built where
// its headers are.
struct ZmqPollItem {
    void* socket;
    int descriptor;
    short events, came;
};

struct ZmqApi {
    void* (*make_context)() = nullptr;
    int (*end_context)(void*) = nullptr;
    void* (*make_socket)(void*, int type) = nullptr;
    int (*close)(void*) = nullptr;
    int (*set)(void*, int option, const void* value, std::size_t bytes) = nullptr;
    int (*get)(void*, int option, void* value, std::size_t* bytes) = nullptr;
    int (*connect)(void*, const char* endpoint) = nullptr;
    int (*receive)(void*, void* to, std::size_t bytes, int flags) = nullptr;
    int (*poll)(ZmqPollItem*, int count, long timeout_ms) = nullptr;
    int (*error)() = nullptr;
    const char* (*text)(int error) = nullptr;
};

namespace {

constexpr const char* kLibrary = "libzmq.so.5";
constexpr int kSubscribe = 6, kMoreParts = 13, kLinger = 17;
constexpr int kDoNotWait = 1;
constexpr short kCanRead = 1;

ZmqApi load() {
    std::string why;
    const auto library = SharedLibrary<IoError>::open(kLibrary, why);
    if (!library)
        throw IoError(fmt::format(
            "zmq:// needs ZeroMQ's library: install libzmq5, or what else brings {} ({})", kLibrary, why));
    ZmqApi api;
    library->find("zmq_ctx_new", api.make_context);
    library->find("zmq_ctx_term", api.end_context);
    library->find("zmq_socket", api.make_socket);
    library->find("zmq_close", api.close);
    library->find("zmq_setsockopt", api.set);
    library->find("zmq_getsockopt", api.get);
    library->find("zmq_connect", api.connect);
    library->find("zmq_recv", api.receive);
    library->find("zmq_poll", api.poll);
    library->find("zmq_errno", api.error);
    library->find("zmq_strerror", api.text);
    return api;
}

const ZmqApi& installed() {
    static const ZmqApi api = load();
    return api;
}

}  // namespace

ZmqSocket::ZmqSocket(Type type, const std::string& endpoint)
    : api_(installed()), context_(api_.make_context()), message_(kMostBytes) {
    try {
        const int no_wait = 0;
        ended_ = eventfd(0, EFD_CLOEXEC);
        check(context_ && ended_ >= 0, "begin");
        socket_ = api_.make_socket(context_, static_cast<int>(type));
        check(socket_, "open a socket");
        check(api_.set(socket_, kLinger, &no_wait, sizeof no_wait) == 0, "set a socket up");
        if (type == Type::subscribe) check(api_.set(socket_, kSubscribe, "", 0) == 0, "subscribe");
        check(api_.connect(socket_, endpoint.c_str()) == 0, "connect to " + endpoint);
    } catch (const IoError&) {
        if (socket_) api_.close(socket_);
        if (context_) api_.end_context(context_);
        if (ended_ >= 0) ::close(ended_);
        throw;
    }
}

ZmqSocket::~ZmqSocket() {
    api_.close(socket_);
    api_.end_context(context_);
    ::close(ended_);
}

void ZmqSocket::check(bool good, const std::string& what) const {
    if (!good) throw IoError(fmt::format("ZeroMQ cannot {}: {}", what, api_.text(api_.error())));
}

std::span<const std::byte> ZmqSocket::next() {
    while (!has_ended_) {
        const int got = api_.receive(socket_, message_.data(), message_.size(), kDoNotWait);
        if (got >= 0)
            return std::span(message_).first(std::min(static_cast<std::size_t>(got), message_.size()));
        check(api_.error() == EAGAIN || api_.error() == EINTR, "receive");
        std::array<ZmqPollItem, 2> either{{{socket_, 0, kCanRead, 0}, {nullptr, ended_, kCanRead, 0}}};
        const int ready = api_.poll(either.data(), static_cast<int>(either.size()), -1);
        check(ready >= 0 || api_.error() == EINTR, "wait");
    }
    return {};
}

bool ZmqSocket::has_more_parts() const {
    int more = 0;
    std::size_t bytes = sizeof more;
    return api_.get(socket_, kMoreParts, &more, &bytes) == 0 && more != 0;
}

void ZmqSocket::end() noexcept {
    has_ended_ = true;
    eventfd_write(ended_, 1);
}

}  // namespace tidemill::io::internal

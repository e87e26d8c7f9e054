#include "tidemill/io/live/zmq_source.hpp"

#include <array>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/internal/zmq_socket.hpp"
#include "tidemill/io/network/network_address.hpp"

namespace tidemill::io {
namespace {

using internal::ZmqSocket;

struct ZmqAddress {
    std::string endpoint;
    ZmqSocket::Type type = ZmqSocket::Type::subscribe;
};

ZmqAddress parse_zmq_place(const std::string& text) {
    constexpr std::array<std::string_view, 1> kNames{"type"};
    NetworkEndpoint read = parse_network_place("zmq", text, kNames);
    const bool is_ipv6 = read.address.host.find(':') != std::string::npos;
    ZmqAddress place{is_ipv6 ? fmt::format("tcp://[{}]:{}", read.address.host, read.address.port)
                             : fmt::format("tcp://{}:{}", read.address.host, read.address.port)};
    const std::string type = read.settings.contains("type") ? read.settings["type"] : "sub";
    if (type != "sub" && type != "pull")
        throw IoError(fmt::format("'{}': type= takes sub (of a PUB sink) or pull (of a PUSH sink)", text));
    if (type == "pull") place.type = ZmqSocket::Type::pull;
    return place;
}

bool drops(const std::string& place) {
    return parse_zmq_place(place).type == ZmqSocket::Type::subscribe;
}

}  // namespace

bool is_zmq_place(const std::string& place) {
    return place.starts_with("zmq://");
}

ZmqSource::ZmqSource(const LiveRequest& request)
    : format_(request.format.value()),
      sample_rate_hz_(request.sample_rate_hz.value()),
      stream_(format_, sample_rate_hz_, drops(request.place)) {
    const ZmqAddress place = parse_zmq_place(request.place);
    socket_ = std::make_unique<ZmqSocket>(place.type, place.endpoint);
}

ZmqSource::~ZmqSource() = default;

std::size_t ZmqSource::read(std::span<std::byte> to) {
    std::size_t got = stream_.read(to);
    while (got == 0) {
        const auto part = socket_->next();
        if (part.data() == nullptr) return 0;
        if (socket_->has_more_parts()) continue;  // a key before the samples
        const std::lock_guard lock(mutex_);
        stream_.take(part);
        got = stream_.read(to);
    }
    return got;
}

void ZmqSource::end() noexcept {
    socket_->end();
}

SampleLosses ZmqSource::losses() const {
    const std::lock_guard lock(mutex_);
    return stream_.losses();
}

std::string ZmqSource::remarks() const {
    const std::lock_guard lock(mutex_);
    return stream_.remarks();
}

std::unique_ptr<LiveSource> open_zmq(const LiveRequest& request) {
    return std::make_unique<ZmqSource>(request);
}

}  // namespace tidemill::io

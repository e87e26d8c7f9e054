#include "tidemill/io/live/live_kinds.hpp"

#include <algorithm>

#include "tidemill/io/live/byte_stream_source.hpp"
#include "tidemill/io/live/reopened_source.hpp"
#include "tidemill/io/live/soapy_source.hpp"
#include "tidemill/io/live/vita49_source.hpp"
#include "tidemill/io/live/zmq_source.hpp"
#include "tidemill/io/network/network_address.hpp"

namespace tidemill::io {

namespace {

bool is_byte_stream(const std::string& place) {
    return InputStream::is_stream(place) && !is_rtl_tcp(place);
}

std::unique_ptr<LiveSource> open_byte_stream(const LiveRequest& request) {
    const auto open = [request] {
        return std::make_unique<ByteStreamSource>(request.place, request.format.value(),
                                                  request.sample_rate_hz);
    };
    // A client of a server can connect again; a pipe and a caller that hangs up are at their end.
    if (request.reopens && is_network_url("tcp", request.place))
        return std::make_unique<ReopenedSource>(request.place, open);
    return open();
}

// One line a kind.
constexpr LiveKind kKinds[] = {
    {.form = "driver=NAME, and what else SoapySDR finds a radio by",
     .is_radio = true,
     .has_modules = true,
     .tells_format = true,
     .tells_rate = true,
     .is_lossy = true,
     .names = [](const std::string& place) { return is_soapy_place(place); },
     .open = open_soapy},
    {.form = "rtl_tcp://host:port",
     .is_radio = true,
     .has_modules = false,
     .tells_format = true,
     .tells_rate = true,
     .is_lossy = true,
     .names = [](const std::string& place) { return is_rtl_tcp(place); },
     .open = open_rtl_tcp},
    {.form = "vita49://host:port",
     .is_radio = false,
     .has_modules = false,
     .tells_format = true,
     .tells_rate = true,
     .is_lossy = true,
     .names = is_vita_place,
     .open = open_vita},
    {.form = "zmq://host:port",
     .is_radio = false,
     .has_modules = false,
     .tells_format = false,
     .tells_rate = false,
     .is_lossy = false,
     .names = is_zmq_place,
     .open = open_zmq},
    {.form = "-, a named pipe, tcp://host:port or tcp-listen://host:port",
     .is_radio = false,
     .has_modules = false,
     .tells_format = false,
     .tells_rate = false,
     .is_lossy = false,
     .names = is_byte_stream,
     .open = open_byte_stream},
};

}  // namespace

std::span<const LiveKind> live_kinds() {
    return kKinds;
}

const LiveKind* live_kind_of(const std::string& place) {
    const auto found = std::ranges::find_if(kKinds, [&](const LiveKind& kind) { return kind.names(place); });
    return found == std::ranges::end(kKinds) ? nullptr : &*found;
}

}  // namespace tidemill::io

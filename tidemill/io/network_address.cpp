#include "tidemill/io/network_address.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

std::optional<std::uint16_t> port_of(std::string_view text) {
    std::uint16_t port = 0;
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || stopped != text.data() + text.size() || port == 0) return {};
    return port;
}

NetworkAddress parse(std::string_view scheme, const std::string& text,
                     std::optional<std::uint16_t> usual_port) {
    const auto fail = [&] {
        return IoError(fmt::format("'{}' names no place on a network: give {}://host:port", text, scheme));
    };
    const std::string begin = fmt::format("{}://", scheme);
    if (!text.starts_with(begin)) throw fail();
    std::string host = text.substr(begin.size());
    const auto colon = host.rfind(':');
    std::optional<std::uint16_t> port = usual_port;
    if (colon != std::string::npos && host.find(']', colon) == std::string::npos) {
        port = port_of(std::string_view(host).substr(colon + 1));
        host.resize(colon);
    }
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (host.empty() || !port) throw fail();
    return {host, *port};
}

}  // namespace

std::string network_url(std::string_view scheme, const NetworkAddress& address) {
    const bool is_ipv6 = address.host.find(':') != std::string::npos;
    return fmt::format("{}://{}:{}", scheme, is_ipv6 ? "[" + address.host + "]" : address.host, address.port);
}

bool is_network_url(std::string_view scheme, std::string_view text) {
    return text.starts_with(scheme) && text.substr(scheme.size()).starts_with("://");
}

NetworkAddress parse_network_url(std::string_view scheme, const std::string& text) {
    return parse(scheme, text, {});
}

NetworkAddress parse_network_url(std::string_view scheme, const std::string& text, std::uint16_t usual_port) {
    return parse(scheme, text, usual_port);
}

}  // namespace tidemill::io

#include "tidemill/io/network/network_address.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
    return {.host = host, .port = *port};
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

NetworkEndpoint parse_network_place(std::string_view scheme, const std::string& text,
                                    std::span<const std::string_view> names) {
    const std::size_t question = text.find('?');
    NetworkEndpoint place{parse_network_url(scheme, text.substr(0, question)), {}};
    std::string_view rest(text);
    rest.remove_prefix(question == std::string::npos ? text.size() : question + 1);
    while (!rest.empty()) {
        const std::string_view one = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
        const std::size_t equals = one.find('=');
        const std::string_view name = one.substr(0, equals);
        if (equals == std::string_view::npos || std::ranges::find(names, name) == names.end()) {
            throw IoError(
                fmt::format("'{}' has the setting '{}'; there are: {}=", text, one, fmt::join(names, "=, ")));
        }
        place.settings[std::string(name)] = one.substr(equals + 1);
    }
    return place;
}

}  // namespace tidemill::io

#include "tidemill/apps/page/page_guard.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>
#include <sys/random.h>

#include "tidemill/apps/page/page_error.hpp"

namespace tidemill::page {

namespace {

std::string lower(std::string_view text) {
    std::string low(text);
    for (char& c : low)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return low;
}

// Without the port.
std::string name_of_host(const std::string& host) {
    const auto colon = host.rfind(':');
    const bool has_port = colon != std::string::npos && host.find(']', colon) == std::string::npos;
    return lower(has_port ? host.substr(0, colon) : host);
}

// In a time that does not depend on where they differ.
bool are_same(std::string_view a, std::string_view b) {
    unsigned different = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        different |=
            static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
    return different == 0;
}

std::string new_token() {
    std::array<std::uint8_t, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw PageError("no page: the system has no random numbers for its token");
    std::string token;
    for (const std::uint8_t byte : bytes) token += fmt::format("{:02x}", byte);
    return token;
}

}  // namespace

PageGuard::PageGuard(std::vector<std::string> hosts, const std::string& password)
    : hosts_{"localhost", "127.0.0.1", "[::1]"},
      authorization_(password.empty() ? "" : ":" + password),
      token_(new_token()) {
    for (const std::string& host : hosts) hosts_.push_back(lower(host));
}

bool PageGuard::is_for_us(const PageRequest& request) const {
    return std::ranges::find(hosts_, name_of_host(request.host)) != hosts_.end();
}

bool PageGuard::is_let_in(const PageRequest& request) const {
    constexpr std::string_view kBasic = "basic ";
    if (authorization_.empty()) return true;
    if (!lower(request.authorization).starts_with(kBasic)) return false;
    const std::string told = from_base64(std::string_view(request.authorization).substr(kBasic.size()));
    const auto colon = told.find(':');
    return colon != std::string::npos && are_same(std::string_view(told).substr(colon), authorization_);
}

bool PageGuard::is_own_origin(const PageRequest& request) const {
    return request.origin.empty() || lower(request.origin) == "http://" + lower(request.host);
}

bool PageGuard::may_act(const PageRequest& request) const {
    return are_same(request.token, token_) && !request.origin.empty() && is_own_origin(request);
}

std::string from_base64(std::string_view text) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    while (text.ends_with('=')) text.remove_suffix(1);
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const std::size_t digit = kDigits.find(c);
        if (digit == std::string_view::npos) return {};
        bits = bits << 6 | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes.push_back(static_cast<char>(bits >> count & 0xff));
    }
    return bytes;
}

}  // namespace tidemill::page

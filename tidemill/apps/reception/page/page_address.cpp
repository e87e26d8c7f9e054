#include "tidemill/apps/reception/page/page_address.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/files/number_text.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::cli {

namespace {

bool is_address(const std::string& text) {
    in6_addr address{};  // room for either
    return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
           inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool is_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

[[noreturn]] void refuse_place(const std::string& text) {
    throw WrongUsage(fmt::format(
        "--page {}: give auto, a port from 1 to 65535, or an address of this machine with or without one, as "
        "192.168.1.5 or [::1]:8080",
        text));
}

std::uint16_t port_of(const std::string& text, std::string_view port) {
    const auto number = is_digits(port) ? io::whole_number<std::uint16_t>(port) : std::nullopt;
    if (!number || *number == 0) refuse_place(text);
    return *number;
}

}  // namespace

PageAddress parse_page_place(const std::string& text) {
    if (is_digits(text)) return {.port = port_of(text, text)};
    if (is_address(text)) return {.address = text};
    const std::size_t colon = text.rfind(':');
    const bool has_port = colon != std::string::npos && !text.ends_with(']');
    std::string host = text.substr(0, has_port ? colon : text.size());
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (host == "localhost") host = "127.0.0.1";
    if (!is_address(host)) refuse_place(text);
    if (!has_port) return {.address = host};
    return {.address = host, .port = port_of(text, std::string_view(text).substr(colon + 1))};
}

std::string password_of_file(const std::string& path) {
    constexpr std::size_t kMostBytes = 1024;
    std::ifstream file(path);
    if (!file) throw io::IoError(fmt::format("--page-password-file {}: it cannot be read", path));
    // A line of a file that has no end is not waited for.
    std::string password(kMostBytes + 1, '\0');
    file.read(password.data(), static_cast<std::streamsize>(password.size()));
    password.resize(static_cast<std::size_t>(file.gcount()));
    password.resize(std::min(password.find('\n'), password.size()));
    if (password.ends_with('\r')) password.pop_back();
    if (password.size() > kMostBytes)
        throw io::IoError(
            fmt::format("--page-password-file {}: its first line has more than {} bytes", path, kMostBytes));
    if (password.empty())
        throw io::IoError(
            fmt::format("--page-password-file {}: there is no password in its first line", path));
    return password;
}

}  // namespace tidemill::cli

#pragma once

#include <cstdint>
#include <string>

#include "tidemill/options/option.hpp"

namespace tidemill::cli {

/// Where a page is served.
struct PageAddress {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: the first free one
};

/// Reads what --page says: a port, or an address of this machine, as 192.168.1.5 or [::1]:8080. Throws
/// WrongUsage.
PageAddress parse_page_place(const std::string& text);

template <>
struct ValueText<PageAddress> {
    static constexpr Kind kKind = Kind::text;
    static PageAddress read(const Option&, const std::string& text) { return parse_page_place(text); }
};

inline std::string default_text(const PageAddress& place) {
    return place.address;
}

/// The password in the first line of a file. Throws io::IoError where there is none.
std::string password_of_file(const std::string& path);

}  // namespace tidemill::cli

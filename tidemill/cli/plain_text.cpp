#include "tidemill/cli/plain_text.hpp"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace tidemill::cli {

namespace {

// Bytes of the character that begins the text, by its first byte; 0 where none begins so.
std::size_t length_by(std::uint8_t first) {
    if (first < 0x80) return 1;
    if (first < 0xc2) return 0;
    if (first < 0xe0) return 2;
    if (first < 0xf0) return 3;
    return first < 0xf5 ? 4 : 0;
}

bool goes_on(char byte) {
    return (static_cast<std::uint8_t>(byte) & 0xc0) == 0x80;
}

// Bytes of the character that begins the text; 0 where it is none that may be shown.
std::size_t shown_length(std::string_view text) {
    const auto first = static_cast<std::uint8_t>(text[0]);
    if (first == '\n' || first == '\t') return 1;
    if (first < 0x20 || first == 0x7f) return 0;
    const std::size_t length = length_by(first);
    if (length > text.size()) return 0;
    for (const char byte : text.substr(1, length == 0 ? 0 : length - 1)) {
        if (!goes_on(byte)) return 0;
    }
    const bool is_control = first == 0xc2 && static_cast<std::uint8_t>(text[1]) < 0xa0;  // the C1 set
    return is_control ? 0 : length;
}

}  // namespace

std::string plain_text(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = shown_length(text);
        if (length == 0) {
            plain += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text[0]));
            text.remove_prefix(1);
        } else {
            plain += text.substr(0, length);
            text.remove_prefix(length);
        }
    }
    return plain;
}

}  // namespace tidemill::cli

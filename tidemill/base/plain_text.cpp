#include "tidemill/base/plain_text.hpp"

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

// The second byte rules out forms that are too long, halves of pairs, and what lies beyond the last character
// (Unicode, table 3-7).
bool may_follow(std::uint8_t first, std::uint8_t second) {
    const std::uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const std::uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= least && second <= most;
}

// Characters that a terminal obeys besides those of one byte: the C1 set, and what turns the direction of
// writing (U+061C, U+200E and F, U+202A to E, U+2066 to 9).
bool is_obeyed(std::string_view character) {
    const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(character[at]); };
    if (character.size() == 2) return (byte(0) == 0xc2 && byte(1) < 0xa0) || character == "\xd8\x9c";
    if (character.size() != 3 || byte(0) != 0xe2) return false;
    if (byte(1) == 0x80) return byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xaa && byte(2) <= 0xae);
    return byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
}

// Bytes of the character that begins the text; 0 where it is none that may be shown.
std::size_t shown_length(std::string_view text) {
    const auto first = static_cast<std::uint8_t>(text[0]);
    if (first < 0x20 || first == 0x7f) return 0;
    const std::size_t length = length_by(first);
    if (length == 0 || length > text.size()) return 0;
    if (length > 1 && !may_follow(first, static_cast<std::uint8_t>(text[1]))) return 0;
    for (const char byte : text.substr(1, length - 1))
        if ((static_cast<std::uint8_t>(byte) & 0xc0) != 0x80) return 0;
    return is_obeyed(text.substr(0, length)) ? 0 : length;
}

// `kept`: control characters that are shown as they are.
std::string plain(std::string_view text, std::string_view kept) {
    std::string plain;
    plain.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = kept.find(text[0]) != std::string_view::npos ? 1 : shown_length(text);
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

}  // namespace

std::string plain_text(std::string_view text) {
    return plain(text, "\n\t");
}

std::string plain_line(std::string_view text) {
    return plain(text, "");
}

}  // namespace tidemill::cli

#include "tidemill/base/plain_text.hpp"

#include <doctest/doctest.h>

namespace tidemill::cli {

TEST_CASE("plain text: what people write stays as it is") {
    for (const char* text : {"", "two\nlines\tand a tab", "Übertragung 2,4 µs → 東京 🛰"})
        CHECK(plain_text(text) == text);
}

TEST_CASE("plain text: what a terminal would obey is spelled out") {
    CHECK(plain_text("\x1b[2J\x07") == "\\x1b[2J\\x07");
    CHECK(plain_text("a\rb\x7f") == "a\\x0db\\x7f");
    CHECK(plain_text("\xc2\x9b"
                     "31m") == "\\xc2\\x9b31m");
    CHECK(plain_text(std::string_view("\0", 1)) == "\\x00");
}

TEST_CASE("plain text: bytes that are no UTF-8 are spelled out, and what follows is read on") {
    CHECK(plain_text("\xff"
                     "a") == "\\xffa");
    CHECK(plain_text("\xe2\x86") == "\\xe2\\x86");
    CHECK(plain_text("\xc3(") == "\\xc3(");
    CHECK(plain_text("\x80\xc0\xaf") == "\\x80\\xc0\\xaf");
    CHECK(plain_text("\xe0\x80\x9b") == "\\xe0\\x80\\x9b");           // an escape, too long
    CHECK(plain_text("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // half of a pair
    CHECK(plain_text("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond the last character
}

TEST_CASE("plain text: what turns the direction of writing is spelled out") {
    CHECK(plain_text("a\u202eb") == "a\\xe2\\x80\\xaeb");
    CHECK(plain_text("\u2066\u061c") == "\\xe2\\x81\\xa6\\xd8\\x9c");
    CHECK(plain_text("\u2030\u2070") == "\u2030\u2070");
}

TEST_CASE("plain line: nothing from outside begins a line") {
    CHECK(plain_line("a\nwarning: b\t") == "a\\x0awarning: b\\x09");
}

}  // namespace tidemill::cli

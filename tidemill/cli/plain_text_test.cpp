#include "tidemill/cli/plain_text.hpp"

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
}

}  // namespace tidemill::cli

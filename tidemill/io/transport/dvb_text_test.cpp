#include "tidemill/io/transport/dvb_text.hpp"

#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill::io {
namespace {

std::string text_of(const std::string& bytes) {
    return dvb_text({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

// Bytes that the compiler would join with letters behind them.
std::string with(char first, const std::string& rest) {
    return first + rest;
}

const std::string kFffd = "\xef\xbf\xbd";

}  // namespace

TEST_CASE("dvb text: each character table becomes UTF-8") {
    struct Case {
        std::string bytes, text;
    };
    for (const Case& c : {Case{"plain", "plain"},
                          {"T\xc2"
                           "est \xc8"
                           "u",
                           "T\u00e9st \u00fc"},
                          {"5 \xa4", "5 \u20ac"},
                          {with(1, "\xc0\xde\xe1\xe1\xd8\xef"), "\u0420\u043e\u0441\u0441\u0438\u044f"},
                          {with(3, "\xc5\xd1\xd4"), "\u0395\u03a1\u03a4"},
                          {with(5, "\xfdk"), "\u0131k"},
                          {with(0x0b, "\xa4"), "\u20ac"},
                          {std::string("\x10\0\x01Gr\xfc", 6), "Gr\u00fc"},
                          {std::string("\x10\0\x02\xa3\xf3", 5), "\u0141\u00f3"},
                          {std::string("\x11\0A\x20\xac\x65\xe5", 7), "A\u20ac\u65e5"},
                          {with(0x12, "\xc7\xd1\xb1\xb9"), "\ud55c\uad6d"},
                          {with(0x13, "\xd6\xd0\xd1\xeb"), "\u4e2d\u592e"},
                          {with(0x14, "\x53\xf0\x70\x63"), "\u53f0\u7063"},
                          {with(0x14, "\xa5\x78\xc6\x57"), "\u53f0\u7063"},
                          {with(0x15, "Gr\xc3\xbc\xc3\x9f"), "Gr\u00fc\u00df"}}) {
        CAPTURE(c.text);
        CHECK(text_of(c.bytes) == c.text);
    }
}

TEST_CASE("dvb text: controls are left out, what is no character is marked, and nothing else is lost") {
    CHECK(text_of("\x86"
                  "big\x87\x8a") == "big");
    CHECK(text_of(std::string("\x11\xe0\x86\0A", 5)) == "A");
    CHECK(text_of(with(0x15,
                       "a\xff"
                       "b")) == "a" + kFffd + "b");
    CHECK(text_of(with(0x15, "cut \xc3")) == "cut " + kFffd);
    CHECK(text_of(std::string("\x11\0A\xd8\x01", 5)) == "A" + kFffd);
    CHECK(text_of(with(0x12, "\xc7")) == kFffd);
    CHECK(text_of("a\xc2") == "a" + kFffd);
    CHECK(text_of("").empty());
    CHECK(text_of("\x10").empty());
    CHECK(text_of(std::string("\x10\0\x0c"
                              "a",
                              4)) == "a");  // there is no such part
}

TEST_CASE("dvb text: whatever comes becomes valid UTF-8") {
    std::mt19937 random(5);
    for (int round = 0; round < 5000; ++round) {
        std::string bytes(random() % 40, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        if (!bytes.empty()) bytes[0] = static_cast<char>(random() % 0x28);
        const std::string text = text_of(bytes);
        CHECK(text_of('\x15' + text) == text);
    }
}

}  // namespace tidemill::io

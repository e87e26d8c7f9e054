#include "tidemill/io/files/hertz_text.hpp"

#include <limits>

#include <doctest/doctest.h>

TEST_CASE("hertz_text: thousands and millions have letters, and six digits are kept") {
    using tidemill::io::hertz_text;
    CHECK(hertz_text(0) == "0");
    CHECK(hertz_text(600) == "600");
    CHECK(hertz_text(48000) == "48k");
    CHECK(hertz_text(1.26e6) == "1.26M");
    CHECK(hertz_text(333333.25) == "333.333k");
    CHECK(hertz_text(10.7e9) == "10.7G");
    CHECK(hertz_text(5e13) == "50000G");
    CHECK(hertz_text(999999.9) == "1M");
    CHECK(hertz_text(-126700) == "-126.7k");
    CHECK(hertz_text(std::numeric_limits<double>::infinity()) == "inf");
}

TEST_CASE("signed_hertz_text: what is to the right of the middle has a plus") {
    using tidemill::io::signed_hertz_text;
    CHECK(signed_hertz_text(126700) == "+126.7k");
    CHECK(signed_hertz_text(0) == "+0");
    CHECK(signed_hertz_text(-2.5e6) == "-2.5M");
}

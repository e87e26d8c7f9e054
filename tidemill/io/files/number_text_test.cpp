#include "tidemill/io/files/number_text.hpp"

#include <doctest/doctest.h>

namespace tidemill::io {

TEST_CASE("numbers: real ones are read as people write them") {
    CHECK(real_number("0") == 0.0);
    CHECK(real_number("-12.5") == -12.5);
    CHECK(real_number("1e6") == 1e6);
    CHECK(real_number("2.4M") == 2.4e6);
    CHECK(real_number("20k") == 20e3);
    CHECK(real_number("1.5G") == 1.5e9);
}

TEST_CASE("numbers: what is no finite number is none") {
    for (const char* const text :
         {"",    " ", "nan", "inf", "-inf", "1e999", "1e308k", "1 ",  " 1",  "+-1", "++1",
          "1kk", "k", "M",   "1m",  "0x10", "1,5",   "1e",     "--1", "1\n", "auto"}) {
        CAPTURE(text);
        CHECK_FALSE(real_number(text));
    }
}

TEST_CASE("numbers: whole ones stay exact, and are refused where their type cannot hold them") {
    CHECK(whole_number<int>("-3") == -3);
    CHECK(whole_number<int>("0x47") == 0x47);
    CHECK(whole_number<std::uint64_t>("64k") == 64'000);
    CHECK(whole_number<std::uint64_t>("18446744073709551615") == ~std::uint64_t{0});
    CHECK(whole_number<std::int64_t>("-9223372036854775807") == -std::numeric_limits<std::int64_t>::max());
    for (const char* const text : {"", "-", "-1", "256", "1k", "1.0", "1e2", "nan", "0x", "0x100",
                                   "18446744073709551616", "18446744073709551615k", "-0x1"}) {
        CAPTURE(text);
        CHECK_FALSE(whole_number<std::uint8_t>(text));
    }
}

TEST_CASE("numbers: a time is told in few digits, however short or long it is") {
    CHECK(seconds_text(0) == "0 s");
    CHECK(seconds_text(3e-300) == "3e-294 us");
    CHECK(seconds_text(0.000'5) == "500 us");
    CHECK(seconds_text(0.024'609) == "24.6 ms");
    CHECK(seconds_text(0.999'7) == "1 s");
    CHECK(seconds_text(8.192) == "8.19 s");
    CHECK(seconds_text(999.7) == "999.7 s");
    CHECK(seconds_text(86'400) == "86400 s");
    CHECK(seconds_text(1e300) == "1e+300 s");
}

TEST_CASE("numbers: a time is in seconds unless its unit is told") {
    CHECK(seconds_in("1.5") == 1.5);
    CHECK(seconds_in("3s") == 3.0);
    CHECK(seconds_in("200ms") == doctest::Approx(0.2));
    CHECK(seconds_in("30us") == doctest::Approx(30e-6));
    CHECK(seconds_in("2min") == 120.0);
    CHECK(seconds_in("1h") == 3600.0);
    for (const char* const text : {"", "s", "1 s", "nan", "infs", "2k"}) CHECK_FALSE(seconds_in(text));
}

}  // namespace tidemill::io

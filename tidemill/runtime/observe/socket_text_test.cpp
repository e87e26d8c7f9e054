#include "tidemill/runtime/observe/socket_text.hpp"

#include <complex>
#include <vector>

#include <doctest/doctest.h>

using namespace tidemill;

namespace {

template <class T>
std::string text(const std::vector<T>& values, std::size_t most) {
    return text_of(std::as_bytes(std::span(values)), element_type<T>(), most);
}

struct Pair {
    std::uint16_t a;
    std::uint16_t b;
};

}  // namespace

TEST_CASE("elements are told as numbers, pairs or hexadecimal, and no more than asked for") {
    CHECK(text<std::int8_t>({-128, 65}, 8) == "-128 65");
    CHECK(text<std::uint8_t>({200, 65}, 8) == "200 65");
    CHECK(text<std::int16_t>({-3}, 8) == "-3");
    CHECK(text<std::uint64_t>({18446744073709551615ull}, 8) == "18446744073709551615");
    CHECK(text<float>({0.5f, -2, 3}, 2) == "0.5 -2 ...");
    CHECK(text<double>({1e-9}, 1) == "1e-09");
    CHECK(text<std::complex<float>>({{1, -0.25f}}, 3) == "(1 -0.25)");
    CHECK(text<Pair>({{0x1234, 0x00ff}}, 3) == "0x3412ff00");
    CHECK(text<float>({1, 2}, 0) == "...");
    CHECK(text<float>({}, 4).empty());
}

#include "tidemill/io/service_list.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/internal/made_services.hpp"

namespace tidemill::io {
namespace {

std::string text_of(std::string bytes) {
    return service_text({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace

TEST_CASE("service list: names come out of a table that lies across several packets, by service number") {
    ServiceList list;
    list.look(internal::made_services({{1, "CQ-TV"}, {7, std::string(200, 'x')}, {9, "Third"}}));
    REQUIRE(list.names().size() == 3);
    CHECK(list.names().at(1) == "CQ-TV");
    CHECK(list.names().at(7) == std::string(200, 'x'));
    CHECK(list.names().at(9) == "Third");
}

TEST_CASE("service list: a damaged table tells nothing, nor do packets of others") {
    auto packets = internal::made_services({{1, "CQ-TV"}});
    packets[30] ^= 1;
    ServiceList list;
    list.look(packets);
    CHECK(list.names().empty());
    packets[30] ^= 1;
    packets[2] ^= 1;
    list.look(packets);
    CHECK(list.names().empty());
}

TEST_CASE("service list: texts of each character table become UTF-8, controls are left out") {
    CHECK(text_of("plain").compare("plain") == 0);
    CHECK(text_of("\x86"
                  "big\x87\x8a") == "big");
    CHECK(text_of("\x15"
                  "Gr\xc3\xbc\xc3\x9f") == "Gr\xc3\xbc\xc3\x9f");
    CHECK(text_of(std::string("\x10\x00\x01Gr\xfc", 6)) == "Gr\xc3\xbc");
    CHECK(text_of("\x05"
                  "\xe9") == "\xef\xbf\xbd");
    CHECK(text_of(std::string("\x11\x00"
                              "A\x20\xac\xd8\x01",
                              7)) == "A\xe2\x82\xac\xef\xbf\xbd");
    CHECK(text_of("").empty());
    CHECK(text_of("\x10").empty());
}

TEST_CASE("service list: a table of thousands of services is bounded") {
    ServiceList list;
    for (int number = 0; number < 1000; ++number) list.look(internal::made_services({{number, "x"}}));
    CHECK(list.names().size() == ServiceList::kMostServices);
}

}  // namespace tidemill::io

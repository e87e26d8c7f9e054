#include "tidemill/io/transport/service_list.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/testing/made_services.hpp"

namespace tidemill::io {
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

TEST_CASE("service list: a table of thousands of services is bounded") {
    ServiceList list;
    for (int number = 0; number < 1000; ++number) list.look(internal::made_services({{number, "x"}}));
    CHECK(list.names().size() == ServiceList::kMostServices);
}

}  // namespace tidemill::io

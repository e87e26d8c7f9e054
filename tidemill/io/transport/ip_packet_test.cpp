#include "tidemill/io/transport/ip_packet.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/testing/made_ip.hpp"

namespace tidemill::io {
namespace {

using internal::made_ipv4;
using internal::made_ipv6;

IpHeader header_of(const std::vector<std::uint8_t>& packet) {
    const auto header = parse_ip(packet);
    REQUIRE(header);
    return *header;
}

std::vector<IpPrefix> prefixes(const std::vector<std::string>& texts) {
    std::vector<IpPrefix> all;
    for (const std::string& text : texts) all.push_back(parse_ip_prefix(text).value());
    return all;
}

}  // namespace

TEST_CASE("IP prefixes: addresses of both versions, with and without a length, and nothing else") {
    CHECK(parse_ip_prefix("10.1.0.0/16")->holds(parse_ip_prefix("10.1.255.3")->address));
    CHECK_FALSE(parse_ip_prefix("10.1.0.0/16")->holds(parse_ip_prefix("10.2.0.1")->address));
    CHECK(parse_ip_prefix("10.1.0.0/15")->holds(parse_ip_prefix("10.0.0.1")->address));
    CHECK(parse_ip_prefix("0.0.0.0/0")->holds(parse_ip_prefix("203.0.113.1")->address));
    CHECK_FALSE(parse_ip_prefix("0.0.0.0/0")->holds(parse_ip_prefix("2001:db8::1")->address));
    CHECK(parse_ip_prefix("2001:db8::/33")->holds(parse_ip_prefix("2001:db8:7fff::1")->address));
    CHECK_FALSE(parse_ip_prefix("2001:db8::/33")->holds(parse_ip_prefix("2001:db8:8000::1")->address));
    for (const char* bad : {"", "10.1", "10.1.0.0/33", "10.1.0.0/", "10.1.0.0/-1", "10.1.0.0/8x", "::/129",
                            "localhost", "10.1.0.0/16/8", "10.1.0.0 "}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_ip_prefix(bad));
    }
}

TEST_CASE("IP headers: lengths are checked, stuffing is told apart") {
    auto packet = made_ipv4("10.1.2.3", "239.1.1.1", 50);
    CHECK(header_of(packet).bytes == 70);
    packet.resize(90);
    CHECK(header_of(packet).bytes == 70);
    packet.resize(69);
    CHECK_FALSE(parse_ip(packet));
    CHECK(header_of(made_ipv6("2001:db8::1", "ff1e::1", 7)).bytes == 47);
    CHECK_FALSE(parse_ip({}));
    CHECK_FALSE(parse_ip(std::vector<std::uint8_t>{0x45, 0, 0}));
    CHECK_FALSE(parse_ip(std::vector<std::uint8_t>(60, 0x50)));
    auto short_header = made_ipv4("10.1.2.3", "10.1.2.4", 50);
    short_header[0] = 0x44;
    CHECK_FALSE(parse_ip(short_header));
}

TEST_CASE("IP filter: only from and to what is allowed, and never what belongs to the host alone") {
    IpFilter filter(prefixes({"10.1.0.0/16", "239.0.0.0/8", "2001:db8::/32", "ff1e::/16"}));
    filter.set_own({parse_ip_prefix("10.1.0.99")->address});
    const auto passes = [&](const char* from, const char* to) {
        return filter.passes(header_of(std::string(from).find(':') == std::string::npos
                                           ? made_ipv4(from, to, 8)
                                           : made_ipv6(from, to, 8)));
    };
    CHECK(passes("10.1.0.1", "239.1.1.1"));
    CHECK(passes("10.1.0.1", "10.1.0.2"));
    CHECK(passes("2001:db8::1", "ff1e::1"));
    CHECK_FALSE(passes("10.2.0.1", "239.1.1.1"));
    CHECK_FALSE(passes("10.1.0.1", "192.0.2.1"));
    CHECK_FALSE(passes("10.1.0.99", "239.1.1.1"));
    CHECK_FALSE(passes("10.1.0.1", "10.1.0.99"));
    CHECK_FALSE(passes("239.1.1.1", "10.1.0.1"));

    const IpFilter everything(prefixes({"0.0.0.0/0", "::/0"}));
    for (const char* local : {"127.0.0.1", "169.254.1.1", "0.0.0.0", "255.255.255.255", "224.0.0.251"}) {
        CAPTURE(local);
        CHECK_FALSE(everything.passes(header_of(made_ipv4(local, "203.0.113.1", 8))));
        CHECK_FALSE(everything.passes(header_of(made_ipv4("203.0.113.1", local, 8))));
    }
    for (const char* local : {"::1", "::", "fe80::1", "ff02::1", "ff01::1", "::ffff:127.0.0.1"}) {
        CAPTURE(local);
        CHECK_FALSE(everything.passes(header_of(made_ipv6(local, "2001:db8::1", 8))));
        CHECK_FALSE(everything.passes(header_of(made_ipv6("2001:db8::1", local, 8))));
    }
}

TEST_CASE("IP prefixes: those of which no address may come from outside are known") {
    for (const char* local : {"127.0.0.0/8", "127.0.0.1", "127.5.0.0/16", "169.254.0.0/16", "0.0.0.0/8",
                              "224.0.0.0/24", "::1", "fe80::/10", "fe80::/64", "ff02::/16"}) {
        CAPTURE(local);
        CHECK(is_local_only(parse_ip_prefix(local).value()));
    }
    for (const char* some : {"0.0.0.0/0", "126.0.0.0/7", "10.0.0.0/8", "169.0.0.0/8", "224.0.0.0/4", "::/0",
                             "2001:db8::/32", "fe00::/9", "ff00::/8"}) {
        CAPTURE(some);
        CHECK_FALSE(is_local_only(parse_ip_prefix(some).value()));
    }
}

TEST_CASE("IP filter: a packet that says itself where to go on to does not pass") {
    const IpFilter everything(prefixes({"0.0.0.0/0", "::/0"}));
    auto with_options = made_ipv4("10.1.2.3", "10.1.2.4", 50);
    with_options[0] = 0x46;
    CHECK_FALSE(everything.passes(header_of(with_options)));
    auto routed = made_ipv6("2001:db8::1", "2001:db8::2", 50);
    routed[6] = 43;
    CHECK_FALSE(everything.passes(header_of(routed)));
}

}  // namespace tidemill::io

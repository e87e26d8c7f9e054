#include "tidemill/io/transport/pcap.hpp"

#include <vector>

#include <doctest/doctest.h>

namespace tidemill::io {

TEST_CASE("pcap: header and records as tcpdump reads them") {
    using Bytes = std::vector<std::uint8_t>;
    CHECK(pcap_header() ==
          Bytes{0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x27, 0, 1, 0, 101, 0, 0, 0});
    const std::chrono::system_clock::time_point when{std::chrono::microseconds(2'000'003)};
    CHECK(pcap_record(Bytes{0x45, 1}, when) ==
          Bytes{2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0x45, 1});
}

}  // namespace tidemill::io

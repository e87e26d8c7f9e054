#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tidemill/dvbs2/standard/bb_header.hpp"

/// Any bytes are a header or a fault with a reason; a header that was read is written as it came.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::dvbs2;
    const auto [header, fault] = parse_bb_header({data, size});
    if (describe(fault).empty()) std::abort();
    if (size < kBbHeaderBytes) return 0;
    std::array<std::uint8_t, kBbHeaderBytes> written{};
    write_bb_header(header, written);
    // All but the checksum, which may have been wrong.
    if (!std::equal(written.begin(), written.end() - 1, data)) std::abort();
    const auto again = parse_bb_header(written);
    if (again.header != header || again.fault == BbFault::checksum) std::abort();
    return 0;
}

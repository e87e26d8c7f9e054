#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidemill/scheduling/unequal/bridge_error.hpp"
#include "tidemill/scheduling/unequal/factor_file.hpp"

/// Any text is a factor file or a BridgeError; what was written is read back equal, and what is remembered
/// of it twice is itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::bridge;
    FactorFile file;
    try {
        file = parse_factor_file({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    } catch (const BridgeError&) {
        return 0;
    }
    if (!(parse_factor_file(to_json(file), "again.json") == file)) std::abort();
    if (!(remembered(file, file) == file)) std::abort();
    return 0;
}

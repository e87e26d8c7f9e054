#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidemill/scheduling/unequal/bridge_error.hpp"
#include "tidemill/scheduling/unequal/emulation.hpp"

/// Any text is a kind of cores that is no faster than a real one, or a BridgeError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::bridge;
    try {
        const EmulatedKind kind =
            parse_emulated_kind({reinterpret_cast<const char*>(data), size}, "fuzz.json");
        if (!(kind.ratio >= 1)) std::abort();
        for (const auto& [name, ratio] : kind.tasks)
            if (!(ratio >= 1) || kind.ratio_of(name) != ratio) std::abort();
    } catch (const BridgeError&) {
    }
    return 0;
}

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidemill/scheduling/static/schedule_file.hpp"

/// Any text gives each of its kinds cores, or is a ScheduleError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill;
    try {
        const auto resources = parse_core_kinds({reinterpret_cast<const char*>(data), size});
        for (const CoreResource& resource : resources)
            if (resource.kind.empty() || resource.nodes.empty()) std::abort();
    } catch (const ScheduleError&) {
    }
    return 0;
}

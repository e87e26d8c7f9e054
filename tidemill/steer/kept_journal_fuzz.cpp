#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidemill/steer/journal.hpp"
#include "tidemill/steer/steer_error.hpp"

/// Any text is a journal that is read again as it is written, or a SteerError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::steer;
    try {
        const Journal journal = parse_journal({reinterpret_cast<const char*>(data), size}, "fuzz.json");
        for (const SteeredThread& thread : journal.threads)
            if (thread.thread < 1 || thread.before.empty()) std::abort();
        if (parse_journal(to_json(journal), "again.json") != journal) std::abort();
    } catch (const SteerError&) {
    }
    return 0;
}

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/tuning/choose/choice_file.hpp"

/// Any text is a file of choices or a RunError, and what was written is read back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill;
    std::vector<RememberedChoice> choices;
    try {
        choices = parse_choices({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    } catch (const RunError&) {
        return 0;
    }
    const std::string text = to_json(choices);
    if (to_json(parse_choices(text, "again.json")) != text) std::abort();
    for (const RememberedChoice& each : choices)
        if (each.choice.line().empty()) std::abort();
    return 0;
}

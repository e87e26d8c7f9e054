#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidemill/base/json.hpp"
#include "tidemill/base/json_error.hpp"

/// Any text is a value or a JsonError, and a value that was printed is read back as the same text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill;
    try {
        const Json value = parse_json({reinterpret_cast<const char*>(data), size}, "fuzz.json");
        const std::string text = to_text(value);
        if (to_text(parse_json(text, "again.json")) != text) std::abort();
        if (to_file_text(value).empty()) std::abort();
    } catch (const JsonError& error) {
        if (std::string_view(error.what()).size() > JsonError::kMost + 3) std::abort();
    }
    return 0;
}

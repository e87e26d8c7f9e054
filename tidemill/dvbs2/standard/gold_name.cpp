#include "tidemill/dvbs2/standard/gold_name.hpp"

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/io/files/number_text.hpp"

namespace tidemill::cli {

int parse_gold(const std::string& text) {
    constexpr std::string_view kRoot = "root:";
    if (text.starts_with(kRoot)) {
        const auto root = io::whole_number<std::uint32_t>(std::string_view(text).substr(kRoot.size()));
        const auto code = root ? dvbs2::gold_code_of_root(*root) : std::nullopt;
        if (code) return *code;
        throw WrongUsage(fmt::format("--gold {}: a root is a whole number from 1 to 262143", text));
    }
    if (const auto code = io::whole_number<int>(text); code && *code >= 0) return *code;
    throw WrongUsage(
        fmt::format("--gold {}: give a whole number from 0 on, or root:N for a code that is named by "
                    "its root",
                    text));
}

}  // namespace tidemill::cli

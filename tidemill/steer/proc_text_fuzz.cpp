#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidemill/steer/cpu_set.hpp"
#include "tidemill/steer/proc_text.hpp"

/// For any text of the kernel's files, the numbers read are within their bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::steer;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto facts = parse_stat(text)) {
        if (facts->processor < 0 || !(facts->weight() > 0)) std::abort();
        if (std::ranges::any_of(facts->name, [](char c) { return c < ' ' || c > '~'; })) std::abort();
    }
    static_cast<void>(parse_schedstat(text));
    for (const int number : parse_numbers(text))
        if (number <= 0) std::abort();
    if (const auto set = parse_cpu_set(text)) {
        if (!std::ranges::is_sorted(*set) || (!set->empty() && (set->front() < 0 || set->back() >= 65536)))
            std::abort();
        if (parse_cpu_set(to_text(*set)) != set) std::abort();
    }
    return 0;
}

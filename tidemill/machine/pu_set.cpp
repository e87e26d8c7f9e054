#include "tidemill/machine/pu_set.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tidemill {

std::string internal::number_ranges(std::string_view prefix, std::vector<int> numbers) {
    std::sort(numbers.begin(), numbers.end());
    std::string text{prefix};
    for (std::size_t first = 0; first < numbers.size();) {
        std::size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        if (first > 0) text += ',';
        text += last == first ? fmt::format("{}", numbers[first])
                              : fmt::format("{}-{}", numbers[first], numbers[last]);
        first = last + 1;
    }
    return text;
}

std::string to_string(std::span<const Pu> pus) {
    if (pus.empty()) return "any";
    std::vector<int> numbers;
    for (const Pu& pu : pus) numbers.push_back(pu.number);
    return internal::number_ranges("PU", std::move(numbers));
}

}  // namespace tidemill

#include "tidemill/scheduling/unequal/sample.hpp"

#include <algorithm>

namespace tidemill::bridge {

Factor time_ratio(std::span<const History> on_kinds, policy::KindId kind) {
    const double reference_ns = on_kinds[0].ns_per_instruction();
    const double here_ns = on_kinds[kind].ns_per_instruction();
    if (reference_ns == 0 || here_ns == 0) return {};
    return {here_ns / reference_ns, std::min(on_kinds[0].quality(), on_kinds[kind].quality())};
}

}  // namespace tidemill::bridge

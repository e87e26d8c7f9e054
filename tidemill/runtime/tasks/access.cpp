#include "tidemill/runtime/tasks/access.hpp"

#include <functional>
#include <string_view>

#include <fmt/format.h>

namespace tidemill {

namespace {

std::string_view name_of(Access::Mode mode) {
    switch (mode) {
        case Access::Mode::in:
            return "in";
        case Access::Mode::out:
            return "out";
        case Access::Mode::inout:
            return "inout";
        case Access::Mode::commutative:
            return "commutative";
        case Access::Mode::concurrent:
            return "concurrent";
        case Access::Mode::reduction:
            return "reduction";
    }
    return "unknown";
}

bool overlap(const Access& one, const Access& other) {
    const auto* const a = static_cast<const std::byte*>(one.address);
    const auto* const b = static_cast<const std::byte*>(other.address);
    return std::less<>()(a, b + other.bytes) && std::less<>()(b, a + one.bytes);
}

// Commutative or concurrent pieces may be named twice; a reduction's is the whole of it, once.
bool contradict(const Access& one, const Access& other) {
    if (!one.shares() && !other.shares()) return false;
    if (one.mode == other.mode && one.mode != Access::Mode::reduction) return false;
    return overlap(one, other);
}

std::string explain(std::size_t first, std::size_t second, std::span<const Access> accesses) {
    const Access& one = accesses[first];
    const Access& other = accesses[second];
    if (one.mode == Access::Mode::reduction && other.mode == Access::Mode::reduction) {
        return fmt::format(
            "its accesses {} and {} are {} in bytes that both name: combine what the task adds first, "
            "and name it once",
            first + 1, second + 1,
            one.operation == other.operation ? "the same reduction" : "reductions by different operations");
    }
    return fmt::format("its accesses {} ({}) and {} ({}) share bytes: a piece is either of the two",
                       first + 1, name_of(one.mode), second + 1, name_of(other.mode));
}

}  // namespace

std::string contradiction(std::span<const Access> accesses) {
    if (std::ranges::none_of(accesses, &Access::shares)) return {};
    for (std::size_t second = 0; second < accesses.size(); ++second) {
        const Access& access = accesses[second];
        if (access.mode == Access::Mode::reduction && !access.operation) {
            return fmt::format(
                "its access {} is a reduction without operation and neutral element: make a Reduction, and "
                "name it by reduces()",
                second + 1);
        }
        for (std::size_t first = 0; first < second; ++first) {
            if (contradict(accesses[first], access)) return explain(first, second, accesses);
        }
    }
    return {};
}

namespace internal {

void refuse_reduction_not_added_to(std::size_t access) {
    throw TasksError(fmt::format(
        "a task names a reduction (its access {}) and does not add to it by a copy of its own: give "
        "it a function made by reducing() with that reduction",
        access + 1));
}

}  // namespace internal

}  // namespace tidemill

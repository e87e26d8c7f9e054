#include "tidemill/machine/affinity.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "tidemill/machine/thread_affinity.hpp"

namespace tidemill {
namespace {

std::optional<PinError> set_affinity(const std::vector<int>& os_numbers) {
    const int code = set_affinity_of_thread(0, os_numbers);
    if (code == 0) return std::nullopt;
    if (code == EINVAL) return PinError{code, "no such PU, or none that this process may use"};
    return PinError{code, fmt::format("the system refused: {}", std::generic_category().message(code))};
}

std::vector<int> os_numbers_of(std::span<const Pu> pus) {
    std::vector<int> numbers;
    for (const Pu& pu : pus) numbers.push_back(pu.os_number);
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

}  // namespace

std::vector<int> affinity_of_this_thread() {
    return affinity_of_thread(0);
}

std::optional<PinError> pin_this_thread(std::span<const Pu> pus) {
    if (pus.empty()) return PinError{EINVAL, "no PU was asked for"};
    const std::vector<int> wanted = os_numbers_of(pus);
    const std::vector<int> before = affinity_of_this_thread();
    if (auto error = set_affinity(wanted)) {
        error->reason = fmt::format("{}: {}", to_string(pus), error->reason);
        return error;
    }
    // The kernel cuts the wish down to the control group's CPUs without a word.
    const std::vector<int> granted = affinity_of_this_thread();
    if (granted.empty() || granted == wanted) return std::nullopt;
    if (!before.empty()) set_affinity(before);
    return PinError{
        EINVAL, fmt::format("only {} of {} were granted (system's numbers)",
                            internal::number_ranges("PU", granted), internal::number_ranges("PU", wanted))};
}

std::optional<PinError> unpin_this_thread(const Topology& topology) {
    return pin_this_thread(topology.pus());
}

PinGuard::PinGuard(std::span<const Pu> pus)
    : previous_(affinity_of_this_thread()), error_(pin_this_thread(pus)) {}

PinGuard::~PinGuard() {
    if (!error_ && !previous_.empty()) set_affinity(previous_);
}

}  // namespace tidemill

#include "tidemill/platform/affinity.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <sched.h>

namespace tidemill {
namespace {

// A kernel mask of a size chosen at run time: machines with more than CPU_SETSIZE (1024) PUs exist.
class KernelMask {
  public:
    explicit KernelMask(std::size_t bits) : words_((bits + kWordBits - 1) / kWordBits) {}

    std::size_t bits() const { return words_.size() * kWordBits; }
    std::size_t bytes() const { return words_.size() * sizeof(unsigned long); }
    cpu_set_t* get() { return reinterpret_cast<cpu_set_t*>(words_.data()); }
    void set(std::size_t bit) { words_[bit / kWordBits] |= 1UL << (bit % kWordBits); }
    bool is_set(std::size_t bit) const { return (words_[bit / kWordBits] >> (bit % kWordBits) & 1UL) != 0; }

  private:
    static constexpr std::size_t kWordBits = 8 * sizeof(unsigned long);
    std::vector<unsigned long> words_;
};

// The kernel's own limit on the number of CPUs is below this on every architecture.
constexpr int kMaxOsNumber = 1 << 16;

std::optional<PinError> set_affinity(const std::vector<int>& os_numbers) {
    const auto [lowest, highest] = std::ranges::minmax(os_numbers);
    if (lowest < 0 || highest >= kMaxOsNumber)
        return PinError{EINVAL, fmt::format("no system has a PU number {}", lowest < 0 ? lowest : highest)};
    KernelMask mask(static_cast<std::size_t>(highest) + 1);
    for (int number : os_numbers) mask.set(static_cast<std::size_t>(number));
    if (sched_setaffinity(0, mask.bytes(), mask.get()) == 0) return std::nullopt;
    const int code = errno;
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
    // EINVAL says that the kernel's mask is longer than ours.
    for (std::size_t bits = 1024; bits <= kMaxOsNumber; bits *= 2) {
        KernelMask mask(bits);
        if (sched_getaffinity(0, mask.bytes(), mask.get()) != 0) {
            if (errno == EINVAL) continue;
            return {};
        }
        std::vector<int> numbers;
        for (std::size_t bit = 0; bit < mask.bits(); ++bit)
            if (mask.is_set(bit)) numbers.push_back(static_cast<int>(bit));
        return numbers;
    }
    return {};
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

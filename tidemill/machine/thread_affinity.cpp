#include "tidemill/machine/thread_affinity.hpp"

#include <algorithm>
#include <cerrno>

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

}  // namespace

std::vector<int> affinity_of_thread(int thread) {
    // EINVAL says that the kernel's mask is longer than ours.
    for (std::size_t bits = 1024; bits <= kMaxOsNumber; bits *= 2) {
        KernelMask mask(bits);
        if (sched_getaffinity(thread, mask.bytes(), mask.get()) != 0) {
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

int set_affinity_of_thread(int thread, std::span<const int> os_numbers) {
    if (os_numbers.empty()) return EINVAL;
    const auto [lowest, highest] = std::ranges::minmax(os_numbers);
    if (lowest < 0 || highest >= kMaxOsNumber) return EINVAL;
    KernelMask mask(static_cast<std::size_t>(highest) + 1);
    for (const int number : os_numbers) mask.set(static_cast<std::size_t>(number));
    return sched_setaffinity(thread, mask.bytes(), mask.get()) == 0 ? 0 : errno;
}

}  // namespace tidemill

#pragma once

#include <atomic>
#include <cstdint>

namespace tidemill {

namespace internal {
extern std::atomic<std::uint32_t> forks;
}

/// How often this process has come of a fork since the first of them began.
inline std::uint32_t forks_so_far() {
    return internal::forks.load(std::memory_order_relaxed);
}

/// The process that made this. One that was forked off has the memory of what was made, but not its threads.
class MakingProcess {
  public:
    bool is_here() const { return forks_ == forks_so_far(); }

  private:
    std::uint32_t forks_ = forks_so_far();
};

}  // namespace tidemill

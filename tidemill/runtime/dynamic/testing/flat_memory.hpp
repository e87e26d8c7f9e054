#pragma once

#include <doctest/doctest.h>

#include "tidemill/machine/memory.hpp"

namespace tidemill::internal {

/// That a program goes on in the memory it has when this is made.
class FlatMemory {
  public:
    void check() const { CHECK(memory_use().resident_bytes.value() <= before_ + kAllowed); }

  private:
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    static constexpr std::size_t kAllowed = std::size_t{16} << 20;  // the sanitizer keeps notes
#else
    // Pages of the program that the kernel had taken back, or that are used for the first time, count too.
    static constexpr std::size_t kAllowed = std::size_t{1} << 20;
#endif

    std::size_t before_ = memory_use().resident_bytes.value();
};

}  // namespace tidemill::internal

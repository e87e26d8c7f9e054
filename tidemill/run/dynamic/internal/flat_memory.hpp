#pragma once

#include <doctest/doctest.h>

#include "tidemill/platform/memory.hpp"

namespace tidemill::internal {

/// That a program goes on in the memory it has when this is made.
class FlatMemory {
  public:
    void check() const { CHECK(memory_use().resident_bytes.value() <= before_ + kAllowed); }

  private:
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    static constexpr std::size_t kAllowed = std::size_t{16} << 20;  // the sanitizer keeps notes
#else
    static constexpr std::size_t kAllowed = std::size_t{256} << 10;
#endif

    std::size_t before_ = memory_use().resident_bytes.value();
};

}  // namespace tidemill::internal

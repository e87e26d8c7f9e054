#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

/// Replaces this program's operator new, which throws where `refuses_memory()` says so. Included by one file
/// of a test program, which defines that function.
namespace tidemill::testing {

/// Called by each allocation, on its thread.
bool refuses_memory() noexcept;

}  // namespace tidemill::testing

// NOLINTBEGIN(misc-definitions-in-headers): one file of a program has them.
__attribute__((noinline)) void* operator new(std::size_t bytes) {
    if (tidemill::testing::refuses_memory()) throw std::bad_alloc();
    if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
    std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
// NOLINTEND(misc-definitions-in-headers)

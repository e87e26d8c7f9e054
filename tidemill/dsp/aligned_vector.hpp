#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace tidemill::dsp {

/// Allocator that starts every buffer on a cache line, so that full-width vector loads do not straddle two.
template <class T>
struct CacheLineAllocator {
    using value_type = T;
    static constexpr std::align_val_t kAlignment{64};

    CacheLineAllocator() = default;
    template <class U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {}

    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, kAlignment); }
    friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }
};

/// A std::vector whose first element lies on a 64-byte border.
template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace tidemill::dsp

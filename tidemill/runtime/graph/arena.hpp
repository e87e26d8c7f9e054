#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace tidemill {

/// Every socket's bytes start on a cache line, which is also the widest vector.
inline constexpr std::size_t kAlignment = 64;

constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

namespace internal {

/// Takes over an arena's bytes when their time is over, to free them with free_arena() some day, or says
/// false. For lending them to others that may live longer, as Python's arrays do. Called by the thread that
/// ends the arena. There is one, also where parts of a program are shared libraries.
using ArenaHeir = bool (*)(std::byte* data, std::size_t bytes) noexcept;
extern std::atomic<ArenaHeir> arena_heir;

inline void free_arena(std::byte* data) noexcept {
    operator delete[](data, std::align_val_t{kAlignment});
}

/// Frees an arena's bytes, unless they have an heir.
struct EndArena {
    void operator()(std::byte* data) const noexcept {
        const ArenaHeir heir = arena_heir.load(std::memory_order_acquire);
        if (!heir || !heir(data, bytes)) free_arena(data);
    }

    std::size_t bytes = 0;
};

}  // namespace internal

/// A block of zeroed, aligned memory.
class Arena {
  public:
    Arena() = default;
    explicit Arena(std::size_t bytes)
        : data_(new (std::align_val_t{kAlignment}) std::byte[aligned(bytes)],
                internal::EndArena{aligned(bytes)}) {
        std::memset(data_.get(), 0, aligned(bytes));
    }

    std::byte* data() const { return data_.get(); }
    std::size_t bytes() const { return data_.get_deleter().bytes; }

  private:
    std::unique_ptr<std::byte[], internal::EndArena> data_;
};

}  // namespace tidemill

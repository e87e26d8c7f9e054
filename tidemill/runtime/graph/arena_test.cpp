#include "tidemill/runtime/graph/arena.hpp"

#include <cstdint>
#include <utility>

#include <doctest/doctest.h>

namespace tidemill {
namespace {

std::byte* taken = nullptr;
std::size_t taken_bytes = 0;
bool takes = false;

bool take(std::byte* data, std::size_t bytes) noexcept {
    taken = data;
    taken_bytes = bytes;
    return takes;
}

// An heir while it lives.
struct Heir {
    explicit Heir(bool wants) {
        takes = wants;
        internal::arena_heir = take;
    }
    ~Heir() { internal::arena_heir = nullptr; }
};

}  // namespace

TEST_CASE("arena: zeroed, aligned, and rounded up to whole cache lines") {
    const Arena arena(100);
    CHECK(arena.bytes() == 128);
    CHECK(reinterpret_cast<std::uintptr_t>(arena.data()) % kAlignment == 0);
    for (std::size_t i = 0; i < arena.bytes(); ++i) CHECK(arena.data()[i] == std::byte{0});
}

TEST_CASE("arena: an heir gets the bytes when the arena ends, once, and they live on") {
    const Heir heir(true);
    std::byte* data = nullptr;
    {
        Arena arena(64);
        data = arena.data();
        data[0] = std::byte{7};
        const Arena moved = std::move(arena);
        taken = nullptr;
    }
    REQUIRE(taken == data);
    CHECK(taken_bytes == 64);
    CHECK(data[0] == std::byte{7});
    internal::free_arena(data);
}

TEST_CASE("arena: what the heir does not want is freed") {
    const Heir heir(false);
    { const Arena arena(64); }
    CHECK(taken != nullptr);
}

}  // namespace tidemill

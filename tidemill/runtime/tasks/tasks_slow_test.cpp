#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/testing/flat_memory.hpp"
#include "tidemill/runtime/tasks/tasks.hpp"

namespace tidemill {

TEST_CASE("a program of ten million tasks takes no more memory than one of a hundred thousand") {
    Tasks tasks({.workers = 2});
    std::vector<std::uint64_t> cells(64, 0);
    std::uint64_t spawned = 0;
    const auto spawn_up_to = [&](std::uint64_t count) {
        for (; spawned < count; ++spawned) {
            std::uint64_t& cell = cells[spawned % cells.size()];
            tasks.spawn({reads(cells[spawned * 7 % cells.size()]), updates(cell)}, [&cell] { ++cell; });
        }
        tasks.wait();
    };
    spawn_up_to(100'000);
    const internal::FlatMemory memory;
    spawn_up_to(10'000'000);
    memory.check();
    std::uint64_t sum = 0;
    for (const std::uint64_t cell : cells) sum += cell;
    CHECK(sum == 10'000'000);
}

}  // namespace tidemill

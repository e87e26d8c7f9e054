#include "tidemill/tasks/region_table.hpp"

#include <random>
#include <span>

#include <doctest/doctest.h>

namespace tidemill {

using Refs = std::vector<TaskRef>;

struct Program {
    TaskRef spawn(policy::TaskSlot slot, std::initializer_list<Access> accesses) {
        const TaskRef task{slot, next++};
        numbers[slot] = task.number;
        before.clear();
        for (const Access& access : accesses) table.note(task, access, before);
        return task;
    }
    std::vector<std::uint64_t> numbers = std::vector<std::uint64_t>(8, ~0ull);
    RegionTable table{numbers};
    Refs before;
    std::uint64_t next = 0;
};

TEST_CASE("readers wait for the writer, and the next writer for all readers") {
    Program p;
    int x = 0;
    const TaskRef writer = p.spawn(0, {writes(x)});
    CHECK(p.before.empty());
    const TaskRef left = p.spawn(1, {reads(x)});
    CHECK(p.before == Refs{writer});
    const TaskRef right = p.spawn(2, {reads(x)});
    CHECK(p.before == Refs{writer});
    const TaskRef again = p.spawn(3, {updates(x)});
    CHECK(p.before == Refs{left, right});
    p.spawn(4, {reads(x)});
    CHECK(p.before == Refs{again});
}

TEST_CASE("who reads and writes the same, or twice, waits for others once and never for itself") {
    Program p;
    int x = 0;
    int y = 0;
    const TaskRef first = p.spawn(0, {updates(x), updates(y)});
    p.spawn(1, {reads(x), updates(x), reads(y), writes(y)});
    CHECK(p.before == Refs{first});
}

TEST_CASE("pieces side by side are apart; one that overlaps others in part is refused while tasks use them") {
    Program p;
    std::vector<int> x(100);
    const auto part = [&](std::size_t first, std::size_t count) {
        return std::span(x).subspan(first, count);
    };
    p.spawn(0, {updates(part(20, 10))});
    p.spawn(1, {updates(part(30, 10))});
    CHECK(p.before.empty());
    p.spawn(2, {reads(part(10, 10))});
    CHECK(p.before.empty());
    const std::pair<std::size_t, std::size_t> overlapping[] = {{20, 9},  {20, 11}, {21, 1}, {29, 2},
                                                               {15, 10}, {0, 100}, {39, 1}, {10, 1}};
    for (const auto& [first, count] : overlapping) {
        CHECK_THROWS_AS(p.spawn(3, {reads(part(first, count))}), std::invalid_argument);
        CHECK_THROWS_AS(p.spawn(3, {writes(part(first, count))}), std::invalid_argument);
    }
    p.numbers = std::vector<std::uint64_t>(8, ~0ull);  // all have ended
    const TaskRef all = p.spawn(0, {updates(part(0, 100))});
    CHECK(p.before.empty());
    CHECK_THROWS_AS(p.spawn(1, {reads(part(20, 10))}), std::invalid_argument);
    p.spawn(2, {reads(part(0, 100))});
    CHECK(p.before == Refs{all});
}

TEST_CASE("random pieces depend on each other, or are refused, as the bytes that they share say") {
    std::mt19937_64 random(3);
    Program p;
    std::vector<std::byte> memory(64);
    std::vector<std::pair<std::size_t, std::size_t>> in_flight(8);  // per slot; of no bytes: none
    for (int step = 0; step < 20000; ++step) {
        const policy::TaskSlot slot = random() % 8;
        if (random() % 3 == 0) {
            const auto ended = in_flight[slot];
            for (std::size_t s = 0; s < 8; ++s) {
                if (in_flight[s] != ended) continue;  // those on the same piece end in order: all, here
                p.numbers[s] = ~0ull;
                in_flight[s] = {};
            }
        }
        if (p.numbers[slot] != ~0ull) continue;
        const std::size_t first = random() % 60;
        const std::size_t count = random() % 5;
        bool overlaps = false;
        bool same = false;
        for (const auto& [begin, bytes] : in_flight) {
            const bool shared = bytes > 0 && count > 0 && begin < first + count && first < begin + bytes;
            same = same || (shared && begin == first && bytes == count);
            overlaps = overlaps || (shared && !(begin == first && bytes == count));
        }
        const auto spawn = [&] { p.spawn(slot, {updates(std::span(memory).subspan(first, count))}); };
        if (overlaps) {
            CHECK_THROWS_AS(spawn(), std::invalid_argument);
            p.numbers[slot] = ~0ull;
        } else {
            spawn();
            CHECK(p.before.empty() != same);
            in_flight[slot] = {first, count};
        }
    }
}

TEST_CASE("a piece of no bytes is none, wherever it is") {
    Program p;
    for (int i = 0; i < 1000; ++i) p.spawn(0, {updates(std::span<int>())});
    CHECK(p.before.empty());
    CHECK(p.table.regions() == 0);
}

TEST_CASE("a million pieces of memory, each used once, leave a small table") {
    Program p;
    std::vector<int> pieces(1'000'000);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        p.spawn(static_cast<policy::TaskSlot>(i % 8), {updates(pieces[i])});
    }
    CHECK(p.table.regions() <= 64);
}

}  // namespace tidemill

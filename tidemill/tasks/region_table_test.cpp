#include "tidemill/tasks/region_table.hpp"

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

TEST_CASE("a million pieces of memory, each used once, leave a small table") {
    Program p;
    std::vector<int> pieces(1'000'000);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        p.spawn(static_cast<policy::TaskSlot>(i % 8), {updates(pieces[i])});
    }
    CHECK(p.table.regions() <= 64);
}

}  // namespace tidemill

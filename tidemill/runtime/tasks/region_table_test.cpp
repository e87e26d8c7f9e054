#include "tidemill/runtime/tasks/region_table.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <utility>

#include <doctest/doctest.h>

namespace tidemill {

using Refs = std::vector<TaskRef>;
using Exclusions = std::vector<policy::ExclusionId>;

struct Program {
    TaskRef spawn(policy::TaskSlot slot, std::initializer_list<Access> accesses) {
        return spawn(slot, std::vector<Access>(accesses));
    }
    TaskRef spawn(policy::TaskSlot slot, const std::vector<Access>& accesses) {
        const TaskRef task{slot, next++};
        numbers[slot] = task.number;
        waits.clear();
        for (const Access& access : accesses) table.note(task, access, waits);
        return task;
    }
    std::vector<std::uint64_t> numbers = std::vector<std::uint64_t>(8, ~0ull);
    RegionTable table{numbers};
    Waits waits;
    Refs& before = waits.predecessors;
    std::uint64_t next = 0;
};

// Each once.
Refs sorted(Refs tasks) {
    std::ranges::sort(tasks, {}, &TaskRef::number);
    const auto doubles = std::ranges::unique(tasks);
    tasks.erase(doubles.begin(), doubles.end());
    return tasks;
}

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

TEST_CASE(
    "pieces side by side are apart; who overlaps others in part waits for those that it shares bytes with") {
    Program p;
    std::vector<int> x(100);
    const auto part = [&](std::size_t first, std::size_t count) {
        return std::span(x).subspan(first, count);
    };
    const TaskRef left = p.spawn(0, {updates(part(20, 10))});
    const TaskRef right = p.spawn(1, {updates(part(30, 10))});
    CHECK(p.before.empty());
    const TaskRef both = p.spawn(2, {reads(part(25, 10))});
    CHECK(p.before == Refs{left, right});
    p.spawn(3, {reads(part(20, 5))});
    CHECK(p.before == Refs{left});
    p.spawn(4, {writes(part(29, 1))});
    CHECK(p.before == Refs{both});
    p.spawn(5, {writes(part(35, 5))});
    CHECK(p.before == Refs{right});
    p.spawn(6, {reads(part(40, 60)), reads(part(0, 20))});
    CHECK(p.before.empty());
}

TEST_CASE("pieces that were cut are whole again when nobody uses them") {
    Program p;
    std::array<int, 64> x{};
    for (int round = 0; round < 1000; ++round) {
        for (const int& each : x) p.spawn(0, {reads(each)});
        p.spawn(1, {updates(x)});
        p.numbers = std::vector<std::uint64_t>(8, ~0ull);  // all have ended
        p.spawn(2, {updates(x)});
        CHECK(p.before.empty());
    }
    CHECK(p.table.regions() <= 128);
}

TEST_CASE("whatever overlaps what, a task waits for those that used its bytes last") {
    // Tasks that may be in any order among each other, and those that they wait for.
    struct Byte {
        Access::Mode mode = Access::Mode::inout;
        Refs before{};
        Refs last{};
    };
    std::mt19937_64 random(3);
    Program p;
    std::array<std::byte, 64> memory{};
    std::array<Byte, 64> bytes;
    using enum Access::Mode;
    const std::array modes{in, in, inout, commutative, concurrent};
    for (int step = 0; step < 20000; ++step) {
        const policy::TaskSlot slot = random() % 8;
        if (random() % 2) *std::ranges::min_element(p.numbers) = ~0ull;  // the oldest has ended
        std::vector<Access> accesses;
        const auto mode = modes[random() % modes.size()];
        for (std::uint64_t i = 1 + random() % 2; i > 0; --i) {
            const std::size_t first = random() % 60;
            const auto piece = std::span(memory).subspan(first, random() % (random() % 4 ? 5 : 64 - first));
            accesses.push_back(Access{piece.data(), piece.size(), mode});
        }
        if (p.numbers[slot] != ~0ull) continue;
        const TaskRef task{slot, p.next};
        Refs expected;
        for (const Access& access : accesses) {
            const auto begin = static_cast<const std::byte*>(access.address) - memory.data();
            for (Byte& byte : std::span(bytes).subspan(static_cast<std::size_t>(begin), access.bytes)) {
                if (byte.mode != access.mode || access.mode == Access::Mode::inout) {
                    byte = {access.mode, std::exchange(byte.last, {}), {}};
                }
                expected.insert(expected.end(), byte.before.begin(), byte.before.end());
                byte.last.push_back(task);
            }
        }
        std::erase_if(expected, [&](TaskRef each) {
            return each == task || each.slot == policy::kNoTask || p.numbers[each.slot] != each.number;
        });
        p.spawn(slot, accesses);
        CHECK(sorted(p.before) == sorted(expected));
    }
}

TEST_CASE("a group waits for what was before it, and what comes behind for all of the group") {
    Program p;
    int x = 0;
    int y = 0;
    const TaskRef left = p.spawn(0, {reads(x)});
    const TaskRef right = p.spawn(1, {reads(x)});
    const TaskRef one = p.spawn(2, {commutes(x)});
    CHECK(p.before == Refs{left, right});
    const Exclusions x_alone = p.waits.exclusions;
    CHECK(x_alone.size() == 1);
    const TaskRef other = p.spawn(3, {commutes(x), commutes(y)});
    CHECK(p.before == Refs{left, right});
    CHECK(p.waits.exclusions.size() == 2);
    CHECK(p.waits.exclusions.front() == x_alone.front());
    const TaskRef shared = p.spawn(4, {shares(x)});
    CHECK(p.before == Refs{one, other});
    CHECK(p.waits.exclusions.empty());
    p.spawn(5, {reads(x), reads(y)});
    CHECK(p.before == Refs{shared, other});
    p.spawn(6, {commutes(x)});
    CHECK(p.waits.exclusions != x_alone);
}

TEST_CASE("commutative pieces that overlap in part have something in common, whichever came first") {
    std::array<int, 10> x{};
    const auto part = [&](std::size_t first, std::size_t count) {
        return std::span(x).subspan(first, count);
    };
    for (const bool whole_first : {true, false}) {
        Program p;
        p.spawn(0, {commutes(whole_first ? part(0, 10) : part(3, 4))});
        const Exclusions before = p.waits.exclusions;
        p.spawn(1, {commutes(whole_first ? part(3, 4) : part(0, 10))});
        CHECK(p.before.empty());
        CHECK(std::ranges::find_first_of(before, p.waits.exclusions) != before.end());
        p.spawn(2, {updates(part(5, 1))});
        CHECK(p.before.size() == 2);
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

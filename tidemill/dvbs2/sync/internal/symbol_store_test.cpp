#include "tidemill/dvbs2/sync/internal/symbol_store.hpp"

#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/graph/archive.hpp"

namespace tidemill::dvbs2::internal {

namespace {

using dsp::Iq;

/// Symbols that hold their place.
std::vector<Iq> symbols_from(std::uint64_t place, std::size_t count) {
    std::vector<Iq> symbols(count);
    for (std::size_t i = 0; i < count; ++i) symbols[i] = {static_cast<float>(place + i), 1};
    return symbols;
}

void check_holds(const SymbolStore& store, std::uint64_t begin, std::uint64_t end) {
    REQUIRE(store.begin() == begin);
    REQUIRE(store.end() == end);
    const auto held = store.at(begin, end - begin);
    CHECK(std::vector<Iq>(held.begin(), held.end()) == symbols_from(begin, end - begin));
}

}  // namespace

TEST_CASE("symbol_store: the latest are held, within its room and beyond it") {
    for (const unsigned seed : {1U, 2U, 3U}) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        for (const std::size_t room : {0U, 100U, 1000U}) {
            CAPTURE(room);
            SymbolStore store(room);
            std::uint64_t begin = 0, end = 0;
            for (int step = 0; step < 300; ++step) {
                const std::size_t more = random() % 200;
                store.append(symbols_from(end, more));
                end += more;
                begin += random() % (end - begin + 1);
                store.forget_before(begin);
                check_holds(store, begin, end);
            }
        }
    }
}

TEST_CASE("symbol_store: it goes on from a checkpoint") {
    SymbolStore before(50);
    before.append(symbols_from(0, 120));
    before.forget_before(70);
    Archive kept;
    before.keep(kept);

    SymbolStore after(50);
    after.append(symbols_from(0, 10));
    Archive given(kept.bytes());
    after.keep(given);
    given.check_whole();
    check_holds(after, 70, 120);
    after.append(symbols_from(120, 300));
    check_holds(after, 70, 420);
}

}  // namespace tidemill::dvbs2::internal

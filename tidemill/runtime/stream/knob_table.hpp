#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tidemill/runtime/graph/arena.hpp"

namespace tidemill {

/// The values of all knobs of a graph, under which some frames begin. Nobody changes it once one has.
struct KnobTable {
    explicit KnobTable(std::size_t bytes) : values(bytes) {}
    explicit KnobTable(const std::vector<std::byte>& copied) : values(copied.size()) {
        if (!copied.empty()) std::memcpy(values.data(), copied.data(), copied.size());
    }

    std::vector<std::byte> copy() const { return {values.data(), values.data() + values.bytes()}; }

    std::atomic<std::uint32_t> holders{0};  ///< tokens that name it, and threads that begin frames under it
    Arena values;
};

namespace internal {

/// The table that a token names in its bytes at `place`; null before its first frame.
inline KnobTable* knobs_at(const std::byte* place) {
    KnobTable* table = nullptr;
    std::memcpy(&table, place, sizeof(table));  // NOLINT(bugprone-sizeof-expression): a pointer's bytes
    return table;
}

/// Has a token name `table`, which is held by another, until its next frame names a later one. Almost
/// always the frame before began under the same.
inline void name_knobs(std::byte* place, KnobTable* table) {
    KnobTable* before = knobs_at(place);
    if (before == table) return;
    table->holders.fetch_add(1, std::memory_order_relaxed);
    // pairs with the load in KnobBook::forget()
    if (before) before->holders.fetch_sub(1, std::memory_order_release);
    std::memcpy(place, &table, sizeof(table));  // NOLINT(bugprone-sizeof-expression): a pointer's bytes
}

}  // namespace internal

}  // namespace tidemill

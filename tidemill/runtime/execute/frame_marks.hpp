#pragma once

#include <atomic>
#include <cstdint>

#include "tidemill/runtime/execute/late.hpp"
#include "tidemill/runtime/threads/token_ring.hpp"

namespace tidemill {

/// Reads and writes the marks of frames that one thread alone runs at a time.
struct OwnMarks {
    static bool has_any(const FrameMark& mark, std::uint64_t holes) { return (mark.holes & holes) != 0; }
    static void add_hole(FrameMark& mark, std::uint64_t hole) { mark.holes |= hole; }
    static std::uint64_t born(const FrameMark& mark) { return mark.born; }
    static FrameMark copy(const FrameMark& mark) { return mark; }

    /// Notes that a task made the frame late; false where that was noted before.
    static bool note_late(FrameMark& mark) {
        mark.born |= kToldLate;
        return true;
    }
};

/// The same for frames on which several threads run tasks at once. What they say of a frame reaches the tasks
/// behind them by the board, which orders the calls.
template <typename Threads>
struct BasicSharedMarks {
    using Mark = BasicFrameMark<Threads>;

    static bool has_any(Mark& mark, std::uint64_t holes) {
        return holes != 0 && (Threads::shared(mark.holes).load(std::memory_order_relaxed) & holes) != 0;
    }
    static void add_hole(Mark& mark, std::uint64_t hole) {
        if (hole != 0) Threads::shared(mark.holes).fetch_or(hole, std::memory_order_relaxed);
    }
    static std::uint64_t born(Mark& mark) {
        return Threads::shared(mark.born).load(std::memory_order_relaxed);
    }
    static Mark copy(Mark& mark) {
        return {Threads::shared(mark.holes).load(std::memory_order_relaxed), born(mark)};
    }
    static bool note_late(Mark& mark) {
        return !(Threads::shared(mark.born).fetch_or(kToldLate, std::memory_order_relaxed) & kToldLate);
    }

    /// A frame begins. Several tasks may be its first, if none waits for another.
    static void note_birth(Mark& mark, std::uint64_t tick) {
        std::uint64_t unborn = 0;
        Threads::shared(mark.born).compare_exchange_strong(unborn, tick, std::memory_order_relaxed);
    }
};

using SharedMarks = BasicSharedMarks<RealThreads>;

}  // namespace tidemill

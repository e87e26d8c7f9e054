#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/machine/pu_set.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/threads/token_memory.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// How one stage of a graph runs.
struct EngineStage {
    StageCut cut;
    std::size_t ring_depth = 1;            ///< frames that may wait between this stage and the next
    WaitMode waiting = WaitMode::passive;  ///< at that ring
    std::vector<PuSet> cores{};            ///< per thread; empty: not pinned
    std::uint32_t gather = 1;              ///< frames that its only task takes at once, of several tokens
    double gather_wait_us = 0;             ///< how long the first of them waits for the others
    std::vector<std::size_t> letters{};    ///< of its threads' word; empty: they go in turn
    std::vector<std::size_t> owners{};     ///< [thread]: number of one that other stages may name, too

    /// Frames that it has to hold at a time.
    std::size_t frames_held() const { return turns().frames_held(!owners.empty()); }

    Turns turns() const { return letters.empty() ? Turns(cut.threads) : Turns(letters); }
};

/// A graph cut into stages.
struct EngineCut {
    std::vector<EngineStage> stages;
    std::uint32_t batch = 1;                    ///< frames that a stage hands over at a time
    std::uint64_t frames_in_flight = kEndless;  ///< at most, but a token for each segment
    std::shared_ptr<TokenMemory> memory{};      ///< of tokens that stages with batches of their own take
};

}  // namespace tidemill

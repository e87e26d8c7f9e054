#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "tidemill/graph/plan.hpp"
#include "tidemill/platform/energy_meter.hpp"
#include "tidemill/platform/pu_set.hpp"
#include "tidemill/run/insight/observer.hpp"
#include "tidemill/run/token_ring.hpp"
#include "tidemill/run/waiting.hpp"

namespace tidemill {

/// What tasks see as the number of the k-th frame: first + k * step. Of n runs of the same graph that share
/// one stream of seeds, run d numbers its frames d, d + n, d + 2n, ...
struct FrameNumbers {
    std::uint64_t first = 0;
    std::uint64_t step = 1;

    std::uint64_t of(std::uint64_t frame) const { return first + frame * step; }
};

/// When a run ends, besides at the end of its source.
struct RunOptions {
    std::uint64_t frames = TokenRing::kEndless;  ///< source frames to begin at most
    std::function<bool()> stop_when{};           ///< asked before each source frame
    std::stop_token stop{};                      ///< ends the run from another thread
    bool statistics = true;                      ///< off: no times in the report, and no cost
    std::vector<Observer*> observers{};          ///< look at every call and wait; they must outlive the run
    FrameNumbers numbers{};                      ///< other than 0, 1, 2, ...
    EnergyMeter* energy_meter = nullptr;         ///< read while the run goes on; null: energy is not measured
};

/// How one stage of a graph runs.
struct EngineStage {
    StageCut cut;
    std::size_t ring_depth = 1;            ///< frames that may wait between this stage and the next
    WaitMode waiting = WaitMode::passive;  ///< at that ring
    std::vector<PuSet> cores{};            ///< per thread; empty: not pinned
};

/// A graph cut into stages.
struct EngineCut {
    std::vector<EngineStage> stages;
    std::uint32_t batch = 1;  ///< frames that a stage hands over at a time
};

}  // namespace tidemill

#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "tidemill/graph/plan.hpp"
#include "tidemill/platform/energy_meter.hpp"
#include "tidemill/platform/pu_set.hpp"
#include "tidemill/run/observer.hpp"
#include "tidemill/run/token_ring.hpp"
#include "tidemill/run/waiting.hpp"

namespace tidemill {

/// When a run ends, besides at the end of its source.
struct RunOptions {
    std::uint64_t frames = TokenRing::kEndless;  ///< source frames to begin at most
    std::function<bool()> stop_when{};           ///< asked before each source frame
    std::stop_token stop{};                      ///< ends the run from another thread
    bool statistics = true;                      ///< off: no times in the report, and no cost
    std::vector<Observer*> observers{};          ///< look at every call and wait; they must outlive the run
    EnergyMeter* energy_meter = nullptr;         ///< read while the run goes on; null: energy is not measured
};

/// How one stage of a cut runs.
struct EngineStage {
    StageCut cut;
    std::size_t ring_depth = 1;            ///< frames that may wait between this stage and the next
    WaitMode waiting = WaitMode::passive;  ///< at that ring
    std::vector<PuSet> cores{};            ///< per thread; empty: not pinned
};

}  // namespace tidemill

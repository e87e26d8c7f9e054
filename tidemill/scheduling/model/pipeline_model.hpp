#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// Costs of a real pipeline that a schedule and a profile leave out. The default is the published model.
struct MachineModel {
    CostModel model{};           ///< what strategies know: work of stages and cuts, slowdowns, watts
    double hop_latency_us = 0;   ///< from a hand-over until the next stage can begin with the frame
    double jitter = 0;           ///< relative standard deviation of a stage's time from frame to frame
    std::uint64_t seed = 1;      ///< of the jitter
    std::size_t ring_depth = 1;  ///< where the schedule does not say: frames that may wait at a cut
    std::optional<std::size_t> tokens{};  ///< frames in flight at most; none: as the run room has it
    Platform platform{};                  ///< cores beyond those of the schedule, which only draw idle watts
};

/// One stage as the simulator sees it.
struct StageModel {
    std::size_t threads = 1;
    std::size_t kind = 0;                ///< index into PipelineModel::cores
    std::vector<double> work_us{0};      ///< for frame 0, 1, ... and then again from the first
    bool spins = false;                  ///< waits at full power
    bool shares_core = false;            ///< each thread has half a core
    std::vector<std::size_t> letters{};  ///< of a mixed stage's word; empty: threads in turn
    std::vector<std::size_t> kinds{};    ///< [thread], of a mixed stage, like `kind`
    std::vector<std::size_t> owners{};  ///< [thread]: one that other stages may name, too; empty: own threads

    Turns turns() const { return letters.empty() ? Turns(threads) : Turns(letters); }
    std::size_t kind_of(std::size_t thread) const { return kinds.empty() ? kind : kinds[thread]; }
};

/// A pipeline on modelled cores.
struct PipelineModel {
    std::vector<StageModel> stages;
    std::vector<KindCosts> cores;
    std::vector<std::string> owner_names{};  ///< of the threads that stages name, by their numbers
    std::size_t tokens = 1;                  ///< frames in flight at most
    double hop_latency_us = 0;
    double jitter = 0;
    std::uint64_t seed = 1;
    double unused_w = 0;  ///< of cores that no stage uses
};

/// The pipeline that a schedule makes of a chain, with one pool of threads + ring depths tokens as the run
/// room has for a stream without skips, but no more than the schedule wants in flight; a mixed stage counts
/// with all frames that its word has it hold. A model counts a core as busy that has a thread; here it is
/// busy while the thread works, so slowdowns cost no more than the model says. Throws ScheduleError when the
/// schedule does not fit the chain or a number of the machine makes no sense.
PipelineModel model_of(const Schedule& schedule, const Chain& chain, const MachineModel& machine = {});

/// Throws ScheduleError naming the first number of the model that makes no sense.
void check(const PipelineModel& model);

/// The period that a pipeline without jitter and with constant speeds settles at: the busiest thread, or all
/// stages and hops in a row shared by the tokens. With mixed stages only where there are tokens for all that
/// their words hold; where threads have several stages, it is no shorter.
double settled_period_us(const PipelineModel& model);

/// Slowdowns of `cores` cores whose speed falls evenly from 1 to 1 - `drop` as they all come to work.
std::vector<double> slowdowns_of(double drop, std::size_t cores);

}  // namespace tidemill

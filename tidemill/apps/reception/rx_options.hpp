#pragma once

#include <string>
#include <vector>

#include "tidemill/apps/reception/exit_policy.hpp"
#include "tidemill/apps/reception/iq_outputs.hpp"
#include "tidemill/apps/reception/page/rx_page.hpp"
#include "tidemill/apps/reception/reception.hpp"
#include "tidemill/apps/reception/rx_outputs.hpp"
#include "tidemill/apps/running/checkpointed_run.hpp"
#include "tidemill/apps/running/devices.hpp"
#include "tidemill/apps/running/watched_run.hpp"

namespace tidemill::cli {

/// How a reception runs.
struct RxRunOptions {
    DeviceOptions device;
    CheckpointOptions checkpoint{};
    std::string journal{};               ///< file for what reaches the run from outside; empty: none
    std::vector<Observer*> observers{};  ///< look into the run; they must outlive it
    // Decoding times vary from frame to frame; and where other programs want the cores too, a stage must find
    // work for the whole slice of time that it gets. So much may wait between two stages.
    RunningOptions running{.how = {.executor = ExecutorKind::automatic,
                                   .profile_s = 1,
                                   .ring_depth = 32,
                                   .window = {.iterations = 32}}};
};

/// Status lines, page and samples that are kept: all that a reception gives beside its data.
struct RxExtraOptions {
    std::string status;  ///< file for a line of JSON each second, "-" for standard output; empty: none
    RxPageOptions page{};
    IqOptions iq{};
};

/// The report of a reception that has ended.
struct RxReportOptions {
    bool json = false;
    bool stats = false;         ///< tables of tasks, schedule and stages
    bool check_digest = false;  ///< of a recording whose metadata claim one
};

/// `tidemill dvbs2 rx`, as the command line says it: for the verb, not for its parts.
struct RxOptions {
    ReceptionOptions reception;
    RxOutputOptions outputs;
    RxRunOptions run{};
    RxExtraOptions beside{};
    std::vector<ExitPolicy> exit_on{};  ///< when to end by itself
    RxReportOptions report{};
};

}  // namespace tidemill::cli

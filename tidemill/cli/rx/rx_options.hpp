#pragma once

#include <string>
#include <vector>

#include "tidemill/cli/dvbs2/reception.hpp"
#include "tidemill/cli/kept_run.hpp"
#include "tidemill/cli/outputs/iq_outputs.hpp"
#include "tidemill/cli/rx/devices.hpp"
#include "tidemill/cli/rx/exit_policy.hpp"
#include "tidemill/cli/rx/rx_outputs.hpp"
#include "tidemill/cli/rx_page/rx_page.hpp"
#include "tidemill/cli/watched_run.hpp"

namespace tidemill::cli {

/// `tidemill dvbs2 rx`, as the command line says it.
struct RxOptions {
    ReceptionOptions reception;
    DeviceOptions device;
    RxOutputOptions outputs;
    IqOptions iq{};
    std::vector<Observer*> observers{};  ///< look into the run; they must outlive it
    CheckpointOptions checkpoint{};
    bool check_digest = false;  ///< of a recording whose metadata claim one
    std::string status;         ///< file for a line of JSON each second, "-" for standard output; empty: none
    std::vector<ExitPolicy> exit_on{};  ///< when to end without being told to
    RxPageOptions page{};
    std::string journal{};  ///< file for what reaches the run from outside; empty: none
    // Decoding times vary from frame to frame; and where other programs want the cores too, a stage must find
    // work for the whole slice of time that it gets. So much may wait between two stages.
    RunningOptions running{.how = {.executor = ExecutorKind::automatic,
                                   .profile_s = 1,
                                   .ring_depth = 32,
                                   .window = {.iterations = 32}}};
    bool json = false;
    bool stats = false;  ///< tables of tasks, schedule and stages in the report

    /// All carriers of a band at once, each into places of its own.
    bool of_all_carriers() const { return reception.carrier && !reception.carrier->only; }
};

/// A radio's samples mostly come more slowly than one core receives them: with automatic, a live reception
/// begins in order whatever another one has chosen, and stays so until its samples wait.
HowToRun how_to_run(const RxOptions& options, bool live);

/// What --carrier all cannot do for all of them is wrong usage.
void check_for_several(const RxOptions& options);

/// Where a carrier of several goes: video.ts becomes video.c2.ts for carrier 2, port 1234 becomes 1235.
/// Throws WrongUsage where there is no such port, and for standard output.
std::string place_of_carrier(const std::string& place, std::size_t carrier);

/// The places of a carrier of several.
RxOutputOptions outputs_of(const RxOutputOptions& all, std::size_t carrier);

}  // namespace tidemill::cli

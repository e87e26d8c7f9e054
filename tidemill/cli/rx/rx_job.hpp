#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/cli/dvbs2/reception.hpp"
#include "tidemill/cli/kept_run.hpp"
#include "tidemill/cli/outputs/iq_outputs.hpp"
#include "tidemill/cli/rx/device_options.hpp"
#include "tidemill/cli/rx/exit_policy.hpp"
#include "tidemill/cli/rx/rx_fields.hpp"
#include "tidemill/cli/rx/rx_outputs.hpp"
#include "tidemill/cli/rx_page/rx_page.hpp"
#include "tidemill/cli/watched_run.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"

namespace tidemill::cli {

/// `tidemill dvbs2 rx`, as the command line says it.
struct RxOptions {
    ReceptionOptions reception;
    DeviceOptions device;
    RxOutputOptions outputs;
    IqOptions iq{};
    std::vector<Observer*> observers{};  ///< look into the run; they must outlive it
    CheckpointOptions checkpoint{};
    std::string status;  ///< file for a line of JSON each second, "-" for standard output; empty: none
    std::vector<ExitPolicy> exit_on{};  ///< when to end without being told to
    RxPageOptions page{};
    std::string journal{};  ///< file for what reaches the run from outside; empty: none
    // Decoding times vary from frame to frame; and where other programs want the cores too, a stage must find
    // work for the whole slice of time that it gets. So much may wait between two stages.
    RunningOptions running{.how = {.profile_s = 1, .ring_depth = 32, .window = {.iterations = 32}}};
    bool executor_given =
        false;  ///< otherwise a live input is received in order, for its samples come slowly
    bool json = false;
    bool stats = false;  ///< tables of tasks, schedule and stages in the report
};

/// A radio's samples come more slowly than one core receives them; nothing is waited for, to make a schedule.
HowToRun how_to_run(const RxOptions& options, bool live);

/// What was received, and how.
struct RxOutcome {
    ReceptionJob job;
    std::optional<ReceptionProfile> profile;
    Executor executor{};
    std::optional<Schedule> schedule;
    std::optional<double> predicted_mbps;
    std::optional<double> predicted_period_us;
    RunReport run;
    std::vector<AdaptationChange> changes;  ///< of the schedule, on the way
    dvbs2::ReceptionReport report;
    std::shared_ptr<const dvbs2::LdpcOnDevice> ldpc_device{};  ///< null: none
    std::optional<DeviceDecision> device_decision{};           ///< by the forecast, where there was one
    dvbs2::LdpcDeviceUse device;
    TsSeen ts;
    std::map<int, std::uint64_t> packets_not_sent;  ///< by input stream
    std::vector<PlaceAccount> places{};             ///< that it was written to
    Json iq{};                                      ///< what was kept of the samples; null: none wanted
    std::string iq_failure{};
    Json ip{};  ///< what came of IP packets; null: none wanted
    std::uint64_t missing_samples = 0;
    bool interrupted = false;
    std::optional<std::string> ended_by{};  ///< a policy, in a sentence
    std::string trouble{};                  ///< with a live input at the end, in words
    RxOutputOptions outputs;

    /// Something came out: packets that were not all lost on the way to their place, what a generic stream
    /// carries, or BBFRAMEs where those were wanted.
    bool received() const;
    std::uint64_t all_not_sent() const;
    /// What failed of the places, though something was received; empty: none.
    std::string failed_places() const;
};

/// Compares a recording that was read to its end with the digest that its metadata claim, which reads all of
/// it once more.
void warn_of_digest(RxOutcome& outcome);

/// Receives: profiles and schedules unless told how, runs, and keeps the accounts.
RxOutcome receive(const RxOptions& options);

/// The outcome in a few lines; with `stats`, tables of tasks, schedule and stages behind them.
std::string report_text(const RxOutcome& outcome, bool stats);

/// What is odd about it, a line each.
std::string warnings_text(const RxOutcome& outcome);

/// The outcome as one JSON object.
std::string report_json(const RxOutcome& outcome);

/// Its account of the reception alone, as text and as an object: for one carrier of several.
std::string account_text(const RxOutcome& outcome);
Json account_json(const RxOutcome& outcome);

/// The rest of it: how the run went.
std::string run_text(const RxOutcome& outcome, bool stats);
void add_run(const RxOutcome& outcome, Json& json);

/// Why nothing came out, and what to try.
std::string failure_text(const RxOutcome& outcome);

}  // namespace tidemill::cli

#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/apps/reception/reception_profile.hpp"
#include "tidemill/apps/reception/rx_fields.hpp"
#include "tidemill/apps/reception/rx_outputs.hpp"
#include "tidemill/apps/running/devices.hpp"
#include "tidemill/apps/running/watched_run.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/tuning/graph_run.hpp"

namespace tidemill::cli {

/// Result of a reception, and how it was done.
struct RxOutcome {
    ReceptionJob job;
    std::optional<ReceptionProfile> profile;
    ExecutorKind executor{};
    std::optional<Schedule> schedule;
    CostModel model{};  ///< by which the profile predicts
    std::optional<double> predicted_mbps;
    std::optional<double> predicted_period_us;
    RunAccount account{};
    RunReport run;
    std::vector<AdaptationChange> changes;  ///< of the schedule, on the way
    dvbs2::ReceptionReport report;
    std::shared_ptr<const DecodingDevice> ldpc_device{};  ///< null: none
    std::optional<DeviceDecision> device_decision{};      ///< by the forecast, where there was one
    dvbs2::LdpcDeviceUse device;
    TransportState ts;
    std::map<int, std::uint64_t> packets_not_sent;  ///< by input stream
    std::uint64_t packet_bytes_lost = 0;            ///< that have come to no place
    std::vector<OutputAccount> places{};            ///< that it was written to
    Json iq{};                                      ///< what was kept of the samples; null: none wanted
    std::string iq_failure{};
    Json ip{};  ///< what came of IP packets; null: none wanted
    std::uint64_t missing_samples = 0;
    double lasted_s = 0;  ///< since the reception was asked for
    double start_s = 0;   ///< of these until samples were received: search, profile, schedule
    bool interrupted = false;
    bool ended_as_asked = false;            ///< by --seconds or --exit-on
    std::exception_ptr failure{};           ///< that ended it; null: none
    std::optional<std::string> ended_by{};  ///< a policy, in a sentence
    std::string report_failure{};           ///< why the page of the whole run was not written
    std::string instead{};                  ///< of nothing received: what is there, as a scan says it
    std::string remarks{};                  ///< on what a live input brought, in words
    std::string trouble{};                  ///< with a live input at the end, in words
    RxOutputOptions outputs;

    /// Something came out: packets that were not all lost on the way to their place, what a generic stream
    /// carries, or BBFRAMEs where those were wanted.
    bool received() const;
    /// Seconds of samples that were received.
    double signal_s() const;
    std::uint64_t all_not_sent() const;
    /// Outputs that failed, though something was received; empty: none.
    std::string failed_places() const;
};

/// Result of one of several carriers.
struct CarrierOutcome {
    std::size_t number = 0;  ///< in a scan
    RxOutcome outcome{};     ///< its own account
};

/// Result of all carriers.
struct CarriersOutcome {
    std::vector<CarrierOutcome> carriers{};
    RxOutcome together{};  ///< how the run went; frames and packets are those of all

    bool received() const;
    /// Outputs that did not take all; empty: none.
    std::string failed_places() const;
};

}  // namespace tidemill::cli

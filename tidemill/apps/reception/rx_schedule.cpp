#include "tidemill/apps/reception/rx_schedule.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/apps/running/watched_run.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

// A device that refuses is done without, where that is wanted.
ReceptionProfile profile_one(const Topology& topology, const ProfileOptions& how, RxOutcome& outcome) {
    const DecodingDevice* const device = outcome.ldpc_device.get();
    try {
        return profile_reception(outcome.job, topology, how, device);
    } catch (const Error& error) {
        if (!device || !device->decoder->falls_back) throw;
        outcome.device.failure = error.what();
        warn(fmt::format("the device failed, and the host goes on: {}", error.what()));
        return profile_reception(outcome.job, topology, how);
    }
}

bool names_device(const Schedule& schedule, const Topology& topology) {
    return std::ranges::any_of(schedule.stages, [&](const Stage& stage) {
        return stage.batch &&
               std::ranges::find(topology.kinds, stage.core_kind, &CoreKind::name) == topology.kinds.end();
    });
}

ReceptionProfile profile_of(RxCarriers& carriers, const Topology& topology, const ProfileOptions& how) {
    if (!carriers.is_band()) return profile_one(topology, how, carriers.whole());
    return profile_receivers(carriers.whole().job, topology, how,
                             [&](io::SampleSource& source) { return carriers.receivers(source, false); });
}

void check_device(const GraphRun& run, const Topology& topology, const RxOutcome& outcome) {
    if (!run.how().schedule || outcome.ldpc_device || !names_device(*run.how().schedule, topology)) return;
    throw WrongUsage(
        "--schedule: it has a stage on a device: name that with --device, as tidemill topo does, or make a "
        "schedule without");
}

}  // namespace

void find_schedule(GraphRun& run, const Topology& topology, RxCarriers& carriers) {
    RxOutcome& outcome = carriers.whole();
    check_device(run, topology, outcome);
    run.prepare([&](const ProfileOptions& how) {
        outcome.profile = profile_of(carriers, topology, how);
        return outcome.profile->profile;
    });
    outcome.device_decision = run.device_decision();
    // Where a forecast was made, it decides.
    const bool is_used = outcome.profile ? run.device_decision() && run.device_decision()->device : true;
    if (is_used && outcome.ldpc_device) {
        outcome.job.config.ldpc_device = outcome.ldpc_device->decoder;
        run.use_token_memory(outcome.ldpc_device->tokens);
    }
    outcome.predicted_period_us = run.predicted_period_us();
    if (outcome.profile)
        outcome.predicted_mbps = outcome.profile->info_bits_per_block / *outcome.predicted_period_us;
    announce(run, fmt::format("{:.2f} Mb/s", outcome.predicted_mbps.value_or(0)));
}

void predict_from_period(RxOutcome& outcome) {
    if (!outcome.predicted_period_us || outcome.predicted_mbps || outcome.run.frames == 0) return;
    outcome.predicted_mbps = static_cast<double>(outcome.report.totals.info_bits) /
                             static_cast<double>(outcome.run.frames) / *outcome.predicted_period_us;
}

}  // namespace tidemill::cli

#include "tidemill/apps/reception/reception_profile.hpp"

#include "tidemill/scheduling/static/device_choice.hpp"

namespace tidemill::cli {

ReceptionProfile profile_receivers(const ReceptionJob& job, const Topology& topology,
                                   const ProfileOptions& how, const MakeReceivers& make) {
    ReceptionProfile result;
    Profiler profiler(topology, how);
    for (const CoreKind* const kind : profiler.kinds()) {
        const std::unique_ptr<io::SampleSource> source = open_preview(job);
        const std::unique_ptr<Receivers> receivers = make(*source);
        const auto [blocks, info_bits] =
            profiler.profile(receivers->graph(), *kind, [&] { return receivers->info_bits(); });
        result.info_bits_per_block = static_cast<double>(info_bits) / static_cast<double>(blocks);
        const FramesHeard heard = receivers->heard();
        if (heard.info_bits > 0)
            result.frames_per_block = result.info_bits_per_block * static_cast<double>(heard.frames) /
                                      static_cast<double>(heard.info_bits);
    }
    result.profile = profiler.profile();
    return result;
}

ReceptionProfile profile_reception(const ReceptionJob& job, const Topology& topology,
                                   const ProfileOptions& how, const DecodingDevice* device) {
    ReceptionProfile result = profile_receivers(job, topology, how, [&](io::SampleSource& source) {
        return std::make_unique<Receivers>(source, job.config, silent_outputs());
    });
    if (!device || result.frames_per_block == 0) return result;
    const std::optional<BatchCost> cost = device->cost(job, result.frames_per_block);
    if (cost) add_device(result.profile, "ldpc.decode", *cost);
    return result;
}

}  // namespace tidemill::cli

#include "tidemill/options/profile_table.hpp"

#include <fmt/format.h>

namespace tidemill::cli {

namespace {

std::string parts(const BatchCost& cost) {
    const BatchParts& alone = cost.alone;
    if (!alone.is_measured()) return {};
    return fmt::format(
        "  alone there: {:.1f} us a batch and {:.2f} us a frame of copies by {}, {:.0f} bytes a frame; "
        "{:.1f} us a batch and {:.2f} us a frame of the kernel\n",
        alone.copies.batch_us, alone.copies.frame_us, alone.memory, alone.frame_bytes, alone.kernel.batch_us,
        alone.kernel.frame_us);
}

}  // namespace

std::string profile_table(const Profile& profile) {
    std::string table = fmt::format("{:<28}  {:<10}", "task", "replicable");
    for (const std::string& kind : profile.kinds) table += fmt::format("  {:>12}", kind + " us");
    table += "\n";
    for (const ChainTask& task : profile.tasks) {
        table += fmt::format("{:<28}  {:<10}", task.name, task.replicable ? "yes" : "no");
        for (const double weight_us : task.weight_us)
            table += weight_us == kCannotRun ? fmt::format("  {:>12}", "-")
                                             : fmt::format("  {:>12.2f}", weight_us);
        table += "\n";
    }
    for (const ChainTask& task : profile.tasks)
        for (const BatchCost& cost : task.batches)
            table += fmt::format(
                         "{} on {}: {:.1f} us a batch and {:.2f} us a frame, {:.2f} us of the host a frame, "
                         "{:.3f} frames an execution; batches of {} at most\n",
                         task.name, cost.kind, cost.batch_us, cost.frame_us, cost.host_us, cost.frames,
                         cost.most_frames) +
                     parts(cost);
    return table + missing_words(profile);
}

}  // namespace tidemill::cli

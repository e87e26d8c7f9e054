#include "tidemill/apps/running/checkpointed_run.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json_error.hpp"
#include "tidemill/base/text_file.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

Option& add_checkpoint_options(Verb& verb, CheckpointOptions& options) {
    Option& checkpoint =
        verb.option("--checkpoint", options.file,
                    "File to go on from, if it is there, and kept up to date: a run that was ended, or "
                    "killed, goes on with the same command")
            .is(Kind::output_file);
    verb.option("--checkpoint-every", options.every_s, "Seconds between two of them")
        .is(Kind::seconds)
        .in(between(0.001, 86400))
        .needs("--checkpoint");
    return checkpoint;
}

CheckpointedRun::CheckpointedRun(const CheckpointOptions& options, const Graph& graph) {
    if (options.file.empty()) return;
    try {
        lock_.emplace(options.file);
        check_replaceable(options.file);
    } catch (const JsonError& error) {
        throw JobFailed(fmt::format("--checkpoint: {}", error.what()));
    }
    file_.emplace(options.file, std::chrono::nanoseconds(static_cast<std::int64_t>(options.every_s * 1e9)));
    if (const std::vector<std::string> modules = graph.not_kept(); !modules.empty())
        warn(fmt::format("a checkpoint is without what these modules hold, which have no keep(): {}",
                         fmt::join(modules, ", ")));
    std::error_code none;
    if (!std::filesystem::exists(options.file, none)) return;
    from_ = read_checkpoint(options.file);
    written_ = std::filesystem::last_write_time(options.file);
    if (from_->has_ended)
        throw JobFailed(
            fmt::format("the stream in {} has ended: remove it to begin a new one", options.file));
    if (!from_->next_frames.empty())
        tell("{}: goes on at frame {}\n", options.file, from_->next_frames.front());
}

void CheckpointedRun::put_into(RunOptions& run) {
    run.checkpoint = file_ ? &*file_ : nullptr;
    run.restore = from_ ? &*from_ : nullptr;
}

}  // namespace tidemill::cli

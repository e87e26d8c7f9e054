#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tidemill/base/text_file.hpp"
#include "tidemill/options/command_line.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/stream/checkpoint.hpp"

namespace tidemill::cli {

/// The file that a run goes on from, if it is there, and keeps up to date.
struct CheckpointOptions {
    std::string file{};  ///< empty: none
    double every_s = 10;
};

/// Adds --checkpoint and --checkpoint-every. Returns the first.
Option& add_checkpoint_options(Verb& verb, CheckpointOptions& options);

/// A run that is kept, as its options say; says on standard error where it goes on.
class CheckpointedRun {
  public:
    /// Throws CheckpointError for a file that holds no checkpoint, and JobFailed where its stream has ended
    /// or another program uses the file.
    CheckpointedRun(const CheckpointOptions& options, const Graph& graph);

    /// When the checkpoint that the run goes on from was written; none for a new run.
    std::optional<std::filesystem::file_time_type> written() const { return written_; }

    /// The options must not outlive this.
    void put_into(RunOptions& run);

  private:
    std::optional<FileLock> lock_{};
    std::optional<CheckpointFile> file_{};
    std::optional<Checkpoint> from_{};
    std::optional<std::filesystem::file_time_type> written_{};
};

}  // namespace tidemill::cli

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/stream/journal.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

class Repeated;

/// All that a stream needs to go on where it stood between two frames, in another program and under another
/// executor: give it to a run in its options, on a graph that is made as that one was. What modules hold is
/// in it as far as they have a keep(); Graph::not_kept() names the others.
struct Checkpoint {
    /// State that a module keeps.
    struct Kept {
        std::string module;
        std::vector<std::byte> bytes;

        bool operator==(const Kept&) const = default;
    };

    std::string graph{};                          ///< identity_of() it
    std::vector<std::uint64_t> next_frames{};     ///< per branch; none: the stream has not begun
    bool has_ended = false;                       ///< and tasks have seen it
    std::vector<JournalRecord::Setting> knobs{};  ///< all of them, then what is known to change later
    std::vector<Kept> modules{};                  ///< in the order of the graph

    bool operator==(const Checkpoint&) const = default;
};

/// A checkpoint that cannot be used: which one, what is wrong.
class CheckpointError : public RunError {
  public:
    using RunError::RunError;
    Fault fault() const override { return Fault::input; }
};

/// A checkpoint that could not be written.
class CheckpointNotWritten : public RunError {
  public:
    using RunError::RunError;
    Fault fault() const override { return Fault::job; }
};

/// Where the stream of a graph stands that nobody runs; throws GraphError while somebody does, and
/// ModuleError when a module's keep() throws.
Checkpoint checkpoint_of(Graph& graph);

/// Reads a checkpoint file; throws CheckpointError for another file, one that is damaged, or of another
/// version.
Checkpoint read_checkpoint(const std::filesystem::path& path);
/// The same for bytes that came from `source`.
Checkpoint parse_checkpoint(std::string_view bytes, std::string_view source);

/// Replaces a file: a reader finds the one or the other, whole. Throws CheckpointNotWritten.
void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path);

/// Keeps a file up to date while a stream runs, by a thread of its own: give it to a run in its options.
/// Frames wait for as long as it takes to copy what modules hold, not for the disk.
class CheckpointFile {
  public:
    /// Every so often, and when a run is over.
    CheckpointFile(std::filesystem::path path, std::chrono::nanoseconds every);
    ~CheckpointFile();
    CheckpointFile(const CheckpointFile&) = delete;
    CheckpointFile& operator=(const CheckpointFile&) = delete;

    using Take = std::function<std::optional<Checkpoint>()>;

    /// For executors. A run begins: `take` is asked again and again, until it gives nothing. Throws
    /// NoMoreThreads.
    void follow(Take take);
    /// The run is over: the last checkpoint. Throws CheckpointNotWritten when that could not be written; one
    /// before that could not was tried again in its time.
    void finish(const Checkpoint& last);
    /// The run has failed: the file stays as it is.
    void give_up() noexcept;

  private:
    std::filesystem::path path_;
    std::chrono::nanoseconds every_;
    std::unique_ptr<Repeated> writer_;
};

}  // namespace tidemill

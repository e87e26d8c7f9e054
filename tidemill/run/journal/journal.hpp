#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "tidemill/graph/graph.hpp"
#include "tidemill/graph/knob.hpp"

namespace tidemill {

class Json;

/// Writes down what reaches a stream from outside while it runs, each with its source frame, as JSON lines:
/// give it to a run in its options. A run that replays what read_journal() makes of it gives the same bytes
/// under any executor.
class Journal {
  public:
    /// Throws RunError when the file cannot be written.
    explicit Journal(const std::filesystem::path& path);
    /// The stream must outlive this.
    explicit Journal(std::ostream& to);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// For executors. A run begins or goes on; throws RunError where another one was written.
    void begin(const Graph& graph, std::uint64_t first_frame);
    /// Knobs were set from `frame` on. From any thread.
    void set(const KnobSettings& settings, std::uint64_t frame);
    /// So many frames from `frame` on were dropped.
    void dropped(std::uint64_t frame, std::uint64_t frames);
    /// The run is over before `frame`; none: a task ended the stream. Throws RunError when not all could be
    /// written.
    void end(std::optional<std::uint64_t> frame);

  private:
    void write(const Json& line);

    std::unique_ptr<std::ostream> file_;
    std::ostream& to_;
    std::string name_;
    std::mutex mutex_;
    std::optional<std::uint64_t> next_frame_;  // of the run that was begun
};

}  // namespace tidemill

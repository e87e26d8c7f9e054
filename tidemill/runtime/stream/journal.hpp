#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/knob.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

/// Writes down what reaches a stream from outside while it runs, each with its source frame, as JSON lines:
/// give it to a run in its options. A run that replays what read_journal() makes of it gives the same bytes
/// under any executor. A thread of its own writes, so that no frame waits for a disk.
class Journal {
  public:
    /// Throws JournalNotWritten where there can be no such file, and NoMoreThreads.
    explicit Journal(const std::filesystem::path& path);
    /// The stream must outlive this, and is not to be touched while a run goes on.
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
    /// The run is over before `frame`; none: a task ended the stream. It is `finished` where the run's
    /// options did. Waits until all is written; throws JournalNotWritten when it could not be.
    void end(std::optional<std::uint64_t> frame, bool finished);

  private:
    class Writer;

    std::string name_;
    std::optional<std::uint64_t> next_frame_{};  // of the run that was begun
    std::unique_ptr<std::ostream> file_{};
    std::unique_ptr<Writer> writer_;
};

/// A journal that cannot be replayed: which one, what is wrong.
class JournalError : public RunError {
  public:
    using RunError::RunError;
    Fault fault() const override { return Fault::input; }
};

/// A journal that could not be written, or not whole.
class JournalNotWritten : public RunError {
  public:
    using RunError::RunError;
    Fault fault() const override { return Fault::job; }
};

/// Record of what reached a stream from outside while it ran, each event at a source frame: with the same
/// input, a run is a function of this.
struct JournalRecord {
    /// New values of knobs.
    struct Setting {
        std::uint64_t frame;
        std::vector<std::pair<std::string, std::vector<double>>> values;  ///< by the knob's name

        bool operator==(const Setting&) const = default;
    };

    /// Frames that were dropped where they began.
    struct Drop {
        std::uint64_t frame;
        std::uint64_t frames;

        std::uint64_t end() const { return frame + frames; }
        bool operator==(const Drop&) const = default;
    };

    std::string graph;                 ///< identity_of() the graph that ran
    std::uint64_t first_frame = 0;     ///< with which the run began
    std::vector<Setting> settings{};   ///< in the order in which they were made; the first has all knobs
    std::vector<Drop> drops{};         ///< by their frames
    std::optional<std::uint64_t> end;  ///< one past the last frame that began; none: a task ended the stream
    bool finished = false;             ///< the stream ended there, too, and tasks have seen it

    /// Whether a frame was dropped. `at` is where a caller that asks for ever later frames has come to.
    bool is_dropped(std::uint64_t asked, std::size_t& at) const {
        while (at < drops.size() && drops[at].end() <= asked) ++at;
        return at < drops.size() && drops[at].frame <= asked;
    }

    bool operator==(const JournalRecord&) const = default;
};

/// Reads a journal, a JSON object per line; throws JournalError naming `source` and the line for a text that
/// is no journal, is damaged, or cut off.
JournalRecord parse_journal(std::istream& text, std::string_view source);

/// The same for a file.
JournalRecord read_journal(const std::filesystem::path& path);

}  // namespace tidemill

#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidemill/run/run_error.hpp"

namespace tidemill {

/// A journal that cannot be replayed: which one, what is wrong.
class JournalError : public RunError {
  public:
    using RunError::RunError;
};

/// What reached a stream from outside while it ran, each at a source frame: with the same input, a run is a
/// function of this.
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

    /// Whether a frame was dropped. `at` is where a caller that asks for ever later frames has come to.
    bool is_dropped(std::uint64_t asked, std::size_t& at) const {
        while (at < drops.size() && drops[at].end() <= asked) ++at;
        return at < drops.size() && drops[at].frame <= asked;
    }

    bool operator==(const JournalRecord&) const = default;
};

/// Reads a journal, a JSON object per line; throws JournalError naming `source` and the line for what is no
/// journal, damaged, or cut off.
JournalRecord parse_journal(std::istream& text, std::string_view source);

/// The same for a file.
JournalRecord read_journal(const std::filesystem::path& path);

}  // namespace tidemill

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/steer/system.hpp"

namespace tidemill::steer {

/// Change of a thread that was made, or is about to be.
struct SteeredThread {
    int process = 0;
    int thread = 0;
    std::uint64_t start_ticks = 0;  ///< with the number, it names the thread
    int session = 0;                ///< by which children are found whose parent is gone
    std::string name{};
    CpuSet before{};             ///< where it could run by itself
    std::vector<CpuSet> sets{};  ///< where it was let run since: any of them, when we were killed meanwhile
    std::uint64_t since_ticks = 0;  ///< after the system's start: whatever it began later has its affinity

    bool operator==(const SteeredThread&) const = default;
};

/// The threads whose affinity is not their own, in a file that outlives its writer.
struct Journal {
    std::string boot_id{};  ///< numbers mean nothing after the next start of the system
    std::vector<SteeredThread> threads{};

    bool operator==(const Journal&) const = default;
};

/// Reads {"version": 1, "boot_id": "...", "threads": [{"process": 17, "thread": 18, "start_ticks": 4711,
/// "session": 9, "name": "cc1", "before": "0-3", "sets": ["0"], "since_ticks": 4800}]}. Throws SteerError
/// naming `source` and the place in it.
Journal parse_journal(std::string_view text, std::string_view source);
/// One without threads where there is no file.
Journal read_journal(const std::filesystem::path& path);

std::string to_json(const Journal& journal);
/// A reader of the file finds the old journal or the new one, whole. Throws SteerError.
void write_journal(const Journal& journal, const std::filesystem::path& path);

/// Result for the threads of a journal.
struct Restored {
    int restored = 0;  ///< may run again where they could
    int gone = 0;
    int changed = 0;  ///< somebody else has chosen for them since: left alone
    int refused = 0;

    bool operator==(const Restored&) const = default;
};

/// Gives the threads of a journal, and those that they have begun since, their affinity back, where it is
/// still one that the journal names. Such a thread cannot be distinguished from one that somebody has
/// narrowed to the very same set after it was begun.
Restored restore(const Journal& journal, System& system);

/// Whether a set is what came of one that was asked for: the system leaves away what is not allowed.
bool is_result_of(const CpuSet& wish, const CpuSet& set, const CpuSet& allowed);

}  // namespace tidemill::steer

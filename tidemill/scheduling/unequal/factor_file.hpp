#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/scheduling/static/chain.hpp"
#include "tidemill/scheduling/unequal/factor_matrix.hpp"

namespace tidemill::bridge {

/// Known time of a task on a kind of core.
struct KnownTime {
    double us = 0;            ///< microseconds of a call, at least 0
    std::uint64_t calls = 0;  ///< that this rests on; 0 where nobody counted them
    Quality quality = Quality::measured;
    std::optional<double> joules = {};  ///< of a call, where something metered them

    bool operator==(const KnownTime&) const = default;
};

/// A task that ran before, by its name. A kind that is not there is one on which it never ran.
struct KnownTask {
    std::string name;                          ///< of a unit: "module.task", as profiles have it
    std::map<std::string, KnownTime> kinds{};  ///< by the kind's name
    bool replicable = false;
    double calls_per_frame = 1;  ///< of the source: with skips, repeats and rates, more or less than 1

    bool operator==(const KnownTask&) const = default;
};

/// Knowledge kept from run to run, in a file that a person can read.
struct FactorFile {
    std::string machine{};           ///< in words, with what was emulated of it; may be empty
    std::string written{};           ///< when, in the writer's words; may be empty
    Platform cores{};                ///< that the tasks ran on
    std::vector<KnownTask> tasks{};  ///< in the order in which a frame passes them, names unique

    /// Null where nothing is known of a task of that name.
    const KnownTask* find(std::string_view name) const;

    bool operator==(const FactorFile&) const = default;
};

/// Reads {"version": 1, "unit": "us", "cores": {"big": 2}, "known_tasks": [{"name": "ldpc.decode", "kinds":
/// {"big": {"time_us": 52, "calls": 812, "quality": "measured", "joules": 0.0002}}}]}; optional are machine
/// and written, replicable and calls_per_frame of a task, joules of a time. Throws BridgeError naming
/// `source` and the place in it for anything else, also for what another version wrote.
FactorFile parse_factor_file(std::string_view text, std::string_view source);
FactorFile read_factor_file(const std::filesystem::path& path);

/// The text that parse_factor_file() reads back as equal.
std::string to_json(const FactorFile& file);

/// Writes to_json(): a reader meanwhile finds the old text or the new one, whole. Throws BridgeError when it
/// cannot.
void write_factor_file(const FactorFile& file, const std::filesystem::path& path);

/// Throws BridgeError naming the kinds of both where the run has a kind of cores that the file has not: it is
/// another machine's.
void check_kinds(const FactorFile& file, const Platform& run, std::string_view source);

/// Knowledge after a run: its own times where they are no less sure than those before it, and the tasks and
/// kinds that it had not. All else is of the run.
FactorFile remembered(const FactorFile& before, FactorFile run);

}  // namespace tidemill::bridge

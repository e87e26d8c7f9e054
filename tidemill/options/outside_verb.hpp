#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

/// Where the program `tidemill-sweep` lies that does the verb `sweep`: beside this program, or in the first
/// folder of `path` (folders between colons, of which relative ones do not count) that has one to execute.
std::optional<std::filesystem::path> program_of_verb(const Verb& program, const std::string& verb,
                                                     const std::string& path);

/// Benchmarks that this program leaves to programs like that: `tidemill bench sweep` is tidemill-bench-sweep.
inline constexpr std::array<std::string_view, 2> kOutsideBenchmarks{"sweep", "python"};

/// The program `tidemill-NAME`, in the same places.
std::optional<std::filesystem::path> outside_program(const std::string& name, const std::string& path);

/// Advice for the case that it is not there.
std::string outside_program_missing(const std::string& name);

/// Becomes that program, with the words behind the verb, where the first word is a verb that this program
/// does not have itself and another one has, or one that leaves such words to another. Returns otherwise.
void become_program_of_verb(const Verb& program, int argc, char** argv);

}  // namespace tidemill::cli

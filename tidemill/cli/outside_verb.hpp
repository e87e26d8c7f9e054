#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tidemill/cli/command_line.hpp"

namespace tidemill::cli {

/// Where the program `tidemill-sweep` lies that does the verb `sweep`: beside this program, or in the first
/// folder of `path` (folders between colons, of which relative ones do not count) that has one to execute.
std::optional<std::filesystem::path> program_of_verb(const Verb& program, const std::string& verb,
                                                     const std::string& path);

/// Becomes that program, with the words behind the verb, where the first word is a verb that this program
/// does not have itself and another one has. Returns otherwise.
void become_program_of_verb(const Verb& program, int argc, char** argv);

}  // namespace tidemill::cli

#pragma once

#include <string>

#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

/// Meaning of each exit status, one a line.
inline constexpr const char* kExitStatuses =
    "0  done\n"
    "1  the job was understood and failed: no signal, nothing received, an output that could not be written\n"
    "2  wrong usage: bad option or value\n"
    "3  unusable input: a file that is missing, malformed or not what it should be\n"
    "4  a reception that --exit-on ended\n";

/// The manual page of a program in the language of man(7), written from the tables of its verbs.
std::string manual_of(Verb& program);

/// Writes that page, and one for each verb, as tidemill-dvbs2-rx.1, into a folder. Throws JsonError.
void write_manuals(Verb& program, const std::string& folder);

}  // namespace tidemill::cli

#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "tidemill/json/json.hpp"

namespace tidemill {

/// A JSON file, also a pipe; throws JsonError naming the file and the reason. No more is read of it than may
/// be.
Json read_json(const std::filesystem::path& path);

/// The next line of a text, without its end; nothing when there is none. A line beyond what a JSON text may
/// have comes cut off, so that parse_json() refuses it.
bool next_line(std::istream& from, std::string& line);

/// Replaces a file; throws JsonError when not every byte got there.
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace tidemill

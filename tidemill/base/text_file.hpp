#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "tidemill/base/json.hpp"

namespace tidemill {

/// A JSON file, also a pipe; throws JsonError naming the file and the reason. No more is read of it than may
/// be.
Json read_json(const std::filesystem::path& path);

/// The next line of a text, without its end; nothing when there is none. A line beyond what a JSON text may
/// have comes cut off, so that parse_json() refuses it.
bool next_line(std::istream& from, std::string& line);

/// Replaces a file; throws JsonError when not every byte got there.
void write_text(const std::filesystem::path& path, const std::string& text);

/// The same, but a reader of the file finds the old text or the new one, whole, whenever this is interrupted:
/// it is written beside the file, with the rights that the file has, and renamed. A link goes on to name the
/// file that it names.
void replace_text(const std::filesystem::path& path, const std::string& text);

/// A lock on `path` with ".lock" behind its name, a file that goes with it; the system frees it however its
/// process ends. Throws JsonError where another process, or another object of this one, holds it.
class FileLock {
  public:
    explicit FileLock(const std::filesystem::path& path);
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

  private:
    std::filesystem::path path_;
    int descriptor_;
};

/// Throws JsonError where that would not do, because nothing can be written beside the file.
void check_replaceable(const std::filesystem::path& path);

}  // namespace tidemill

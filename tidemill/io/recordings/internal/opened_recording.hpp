#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tidemill/io/recordings/recording.hpp"

namespace tidemill::io::internal {

/// Extent of bytes in a file.
struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

/// Counts the samples of the data, whose format is known: of a whole file, or of a part of one.
void measure_data(Recording& recording, const std::optional<Extent>& part = {});

/// The user outweighs what the recording says of itself, with a warning, in which `who_says` that: "its name
/// says".
void apply_hints(const RecordingHints& hints, Recording& recording, std::string_view who_says);

/// Whether the name of a file ends so, in letters of either size.
bool has_extension(const std::filesystem::path& path, std::string_view extension);

/// Whether something is there; what cannot be looked at is reported when it is opened.
bool is_there(const std::filesystem::path& path);

}  // namespace tidemill::io::internal

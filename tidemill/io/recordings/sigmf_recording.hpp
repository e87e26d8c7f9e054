#pragma once

#include <filesystem>
#include <optional>

#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/io/recordings/sigmf.hpp"

namespace tidemill::io {

/// Examines a SigMF recording. Throws IoError.
Recording open_sigmf(const SigmfPaths& paths, const RecordingHints& hints);

/// Examines the recording that a collection names. Throws IoError, which lists them where there are several.
Recording open_sigmf_collection(const std::filesystem::path& path, const RecordingHints& hints);

/// A recording in an archive (SigMF specification 1.2, "Archives": a tar of the files of one or more).
struct SigmfMember {
    std::filesystem::path archive;
    std::string name{};  ///< without extension; empty: there is only one
};

/// Reads ARCHIVE or ARCHIVE/NAME; none where the path leads into no archive.
std::optional<SigmfMember> sigmf_member(const std::filesystem::path& path);

/// Examines it. Throws IoError, which lists the recordings where the name is that of none or of several.
Recording open_sigmf_member(const SigmfMember& member, const RecordingHints& hints);

}  // namespace tidemill::io

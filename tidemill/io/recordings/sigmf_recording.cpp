#include "tidemill/io/recordings/sigmf_recording.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/base/json.hpp"
#include "tidemill/io/files/internal/recorded_file.hpp"
#include "tidemill/io/files/tar_index.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recordings/internal/opened_recording.hpp"

namespace tidemill::io {
namespace {

namespace fs = std::filesystem;
using internal::Extent;

std::string read_metadata_text(const fs::path& path, const std::optional<Extent>& part = {}) {
    const internal::RecordedFile file(path);
    const Extent extent = part ? *part : Extent{0, file.size()};
    if (extent.size > JsonLimits::kBytes) {
        throw IoError(fmt::format("'{}' has {} bytes, more than the {} MiB that SigMF metadata may have",
                                  path.string(), extent.size, JsonLimits::kBytes >> 20));
    }
    std::string text(extent.size, '\0');
    text.resize(file.read_at(std::as_writable_bytes(std::span(text)), extent.offset));
    return text;
}

// Headers and trailing bytes are no samples.
void measure(const SigmfMetadata& metadata, const Extent& all, Recording& recording) {
    Extent data = all;
    data.size -= std::min(data.size, metadata.trailing_bytes);
    for (const SigmfHeader& header : metadata.headers) data.size -= std::min(data.size, header.bytes);
    measure_data(recording, data);
    const std::size_t sample_bytes = stored_bytes_per_sample(recording);
    std::uint64_t skipped = 0;
    for (const SigmfHeader& header : metadata.headers) {
        skipped += header.bytes;
        const std::uint64_t offset = all.offset + skipped + header.at_sample * sample_bytes;
        if (header.at_sample == 0)
            recording.data_offset = offset;
        else if (header.at_sample < recording.samples)
            recording.more_pieces.push_back({header.at_sample, offset});
    }
    recording.dataset_offset = all.offset;
    recording.dataset_bytes = all.size;
    if (metadata.last_capture_start >= recording.samples) {
        recording.warnings.push_back(
            fmt::format("the metadata name sample {}, but there are only {}: the data may be truncated",
                        metadata.last_capture_start, recording.samples));
    }
}

Recording described_by(const SigmfMetadata& metadata, const RecordingHints& hints) {
    Recording recording;
    recording.format = metadata.format;
    recording.integers = metadata.integers;
    recording.sample_rate_hz = metadata.sample_rate_hz;
    recording.center_frequency_hz = metadata.center_frequency_hz;
    recording.symbol_rate_hz = metadata.symbol_rate_hz;
    recording.sha512 = metadata.sha512;
    recording.warnings = metadata.warnings;
    internal::apply_hints(hints, recording, "the metadata say");
    if (!recording.sample_rate_hz) recording.warnings.emplace_back("the metadata do not give a sample rate");
    return recording;
}

bool is_archive(const fs::path& path) {
    return internal::has_extension(internal::without_packing(path), ".sigmf");
}

// The ._ files that macOS adds are no recordings.
std::vector<TarMember> metadata_in(const std::vector<TarMember>& members) {
    std::vector<TarMember> metadata;
    for (const TarMember& member : members)
        if (member.name.ends_with(".sigmf-meta") &&
            !fs::path(member.name).filename().string().starts_with("._"))
            metadata.push_back(member);
    return metadata;
}

std::string base_of(const TarMember& member) {
    const SigmfPaths paths = sigmf_paths(member.name);
    return (paths.meta.parent_path() / paths.meta.stem()).string();
}

// By the whole of its name in the archive, or by the last part of it.
bool is_named(const TarMember& member, const std::string& name) {
    const fs::path wanted = sigmf_paths(name).meta;
    return wanted == sigmf_paths(base_of(member)).meta ||
           wanted == sigmf_paths(fs::path(base_of(member)).filename()).meta;
}

// The first ones will do.
std::string list_of(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 20;
    const auto few = std::span(names).first(std::min(names.size(), kMost));
    return fmt::format("{}{}", fmt::join(few, ", "), names.size() > kMost ? ", ..." : "");
}

TarMember chosen(const SigmfMember& wanted, const std::vector<TarMember>& members) {
    const std::vector<TarMember> all = metadata_in(members);
    if (all.empty())
        throw IoError(fmt::format("the archive '{}' holds no .sigmf-meta file", wanted.archive.string()));
    std::vector<TarMember> found;
    for (const TarMember& member : all)
        if (wanted.name.empty() || is_named(member, wanted.name)) found.push_back(member);
    if (found.size() == 1) return found.front();
    std::vector<std::string> names;
    for (const TarMember& member : all) names.push_back(base_of(member));
    throw IoError(fmt::format("the archive '{}' holds {} recordings: {}; name one of them as {}/{}{}",
                              wanted.archive.string(), all.size(), list_of(names), wanted.archive.string(),
                              names.back(),
                              wanted.name.empty() ? "" : fmt::format(", not as {}", wanted.name)));
}

}  // namespace

Recording open_sigmf(const SigmfPaths& paths, const RecordingHints& hints) {
    const auto metadata = parse_sigmf(read_metadata_text(paths.meta), paths.meta);
    Recording recording = described_by(metadata, hints);
    recording.data_path = metadata.dataset.empty() ? paths.data : paths.meta.parent_path() / metadata.dataset;
    measure(metadata, Extent{0, internal::RecordedFile(recording.data_path).size()}, recording);
    return recording;
}

// A name that leads elsewhere would let a downloaded file point at any file of the reader's.
Recording open_sigmf_collection(const fs::path& path, const RecordingHints& hints) {
    const auto names = parse_sigmf_collection(read_metadata_text(path), path);
    if (names.empty()) throw IoError(fmt::format("the collection '{}' names no recordings", path.string()));
    if (names.size() > 1)
        throw IoError(
            fmt::format("the collection '{}' names {} recordings: {}; name one of them: '{}'", path.string(),
                        names.size(), list_of(names),
                        sigmf_paths(path.parent_path() / fs::path(names.front()).filename()).meta.string()));
    if (fs::path(names.front()).filename() != names.front())
        throw IoError(fmt::format("the collection '{}' names '{}'; it must be a recording beside it",
                                  path.string(), names.front()));
    return open_sigmf(sigmf_paths(path.parent_path() / names.front()), hints);
}

std::optional<SigmfMember> sigmf_member(const fs::path& path) {
    if (is_archive(path)) return SigmfMember{path};
    for (fs::path part = path.parent_path(); part.has_filename(); part = part.parent_path()) {
        std::error_code unknown;
        if (is_archive(part) && fs::is_regular_file(part, unknown))
            return SigmfMember{part, path.lexically_relative(part).string()};
    }
    return std::nullopt;
}

Recording open_sigmf_member(const SigmfMember& member, const RecordingHints& hints) {
    const auto members = list_tar(member.archive);
    const TarMember meta = chosen(member, members);
    const auto metadata =
        parse_sigmf(read_metadata_text(member.archive, Extent{meta.offset, meta.size}), member.archive);
    const SigmfPaths paths = sigmf_paths(meta.name);
    const std::string wanted = metadata.dataset.empty()
                                   ? paths.data.string()
                                   : (paths.meta.parent_path() / metadata.dataset).string();
    const auto data = std::ranges::find(members, wanted, &TarMember::name);
    if (data == members.end()) {
        throw IoError(
            fmt::format("the archive '{}' does not hold the data '{}'", member.archive.string(), wanted));
    }
    Recording recording = described_by(metadata, hints);
    recording.data_path = member.archive;
    measure(metadata, Extent{data->offset, data->size}, recording);
    return recording;
}

}  // namespace tidemill::io

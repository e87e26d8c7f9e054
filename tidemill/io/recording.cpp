#include "tidemill/io/recording.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "tidemill/io/internal/recorded_file.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/recording_name.hpp"
#include "tidemill/io/sdriq_header.hpp"
#include "tidemill/io/sigmf.hpp"
#include "tidemill/io/tar_index.hpp"
#include "tidemill/io/wav_header.hpp"
#include "tidemill/json/json.hpp"

namespace tidemill::io {
namespace {

using dsp::SampleFormat;
namespace fs = std::filesystem;

// Where bytes lie in a file.
struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

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

// Counts the samples of the data, whose format is known: of a whole file, or of a part of one.
void measure_data(Recording& recording, const std::optional<Extent>& part = {}) {
    const internal::RecordedFile file(recording.data_path);
    const auto size = part ? part->size : file.size();
    recording.data_offset = part ? part->offset : 0;
    const auto sample_bytes = stored_bytes_per_sample(recording);
    recording.samples = size / sample_bytes;
    recording.trailing_bytes = size % sample_bytes;
    if (recording.samples == 0) {
        throw IoError(fmt::format("'{}' is empty: it holds {} bytes, not one sample",
                                  recording.data_path.string(), size));
    }
    if (recording.trailing_bytes != 0) {
        recording.warnings.push_back(fmt::format("'{}': {}", recording.data_path.string(),
                                                 cut_sample_text(recording.trailing_bytes, sample_bytes)));
    }
}

Recording open_raw(const fs::path& path, SampleFormat format, const RecordingHints& hints) {
    const RecordingName name = read_recording_name(path.filename().string());
    Recording recording;
    recording.data_path = path;
    recording.format = format;
    recording.sample_rate_hz = hints.sample_rate_hz ? hints.sample_rate_hz : name.sample_rate_hz;
    recording.center_frequency_hz = name.center_frequency_hz;
    measure_data(recording);
    return recording;
}

void apply_hints(const RecordingHints& hints, Recording& recording) {
    if (hints.format && *hints.format != recording.format) {
        recording.warnings.push_back(fmt::format("the samples are read as {}, the metadata say {}",
                                                 sigmf_datatype(*hints.format),
                                                 sigmf_datatype(recording.format)));
        recording.format = *hints.format;
        recording.integers = {};
    }
    if (hints.sample_rate_hz) {
        if (recording.sample_rate_hz && *recording.sample_rate_hz != *hints.sample_rate_hz) {
            recording.warnings.push_back(
                fmt::format("the sample rate is taken as {} Hz, the metadata say {} Hz",
                            *hints.sample_rate_hz, *recording.sample_rate_hz));
        }
        recording.sample_rate_hz = hints.sample_rate_hz;
    } else if (!recording.sample_rate_hz) {
        recording.warnings.emplace_back("the metadata do not give a sample rate");
    }
}

Recording described_by(const SigmfMetadata& metadata, const RecordingHints& hints) {
    Recording recording;
    recording.format = metadata.format;
    recording.sample_rate_hz = metadata.sample_rate_hz;
    recording.center_frequency_hz = metadata.center_frequency_hz;
    recording.sha512 = metadata.sha512;
    recording.warnings = metadata.warnings;
    apply_hints(hints, recording);
    return recording;
}

void warn_if_cut_off(const SigmfMetadata& metadata, Recording& recording) {
    if (metadata.last_capture_start >= recording.samples) {
        recording.warnings.push_back(
            fmt::format("the metadata name sample {}, but there are only {}: the data may be truncated",
                        metadata.last_capture_start, recording.samples));
    }
}

Recording open_sigmf(const SigmfPaths& paths, const RecordingHints& hints) {
    const auto metadata = parse_sigmf(read_metadata_text(paths.meta), paths.meta);
    Recording recording = described_by(metadata, hints);
    recording.data_path = metadata.dataset.empty() ? paths.data : paths.meta.parent_path() / metadata.dataset;
    measure_data(recording);
    warn_if_cut_off(metadata, recording);
    return recording;
}

// SigMF specification 1.2, "Archives": a tar of the files of one or more recordings.
Recording open_archive(const fs::path& path, const RecordingHints& hints) {
    const auto members = list_tar(path);
    const auto meta = std::ranges::find_if(
        members, [](const TarMember& member) { return member.name.ends_with(".sigmf-meta"); });
    if (meta == members.end()) {
        throw IoError(fmt::format("the archive '{}' holds no .sigmf-meta file", path.string()));
    }
    const auto metadata = parse_sigmf(read_metadata_text(path, Extent{meta->offset, meta->size}), path);
    const SigmfPaths paths = sigmf_paths(meta->name);
    const std::string wanted = metadata.dataset.empty()
                                   ? paths.data.string()
                                   : (paths.meta.parent_path() / metadata.dataset).string();
    const auto data = std::ranges::find(members, wanted, &TarMember::name);
    if (data == members.end()) {
        throw IoError(fmt::format("the archive '{}' does not hold the data '{}'", path.string(), wanted));
    }
    Recording recording = described_by(metadata, hints);
    recording.data_path = path;
    measure_data(recording, Extent{data->offset, data->size});
    warn_if_cut_off(metadata, recording);
    return recording;
}

Recording open_wav(const fs::path& path, const RecordingHints& hints) {
    const WavHeader header = read_wav_header(path);
    Recording recording;
    recording.data_path = path;
    recording.format = header.format;
    recording.integers = header.integers;
    const RecordingName name = read_recording_name(path.filename().string());
    recording.sample_rate_hz = header.sample_rate_hz ? header.sample_rate_hz : name.sample_rate_hz;
    recording.center_frequency_hz =
        header.center_frequency_hz ? header.center_frequency_hz : name.center_frequency_hz;
    recording.warnings = header.warnings;
    apply_hints(hints, recording);
    measure_data(recording, Extent{header.data_offset, header.data_bytes});
    return recording;
}

Recording open_sdriq(const fs::path& path, const RecordingHints& hints) {
    const SdriqHeader header = read_sdriq_header(path);
    Recording recording;
    recording.data_path = path;
    recording.format = header.is_24_bit ? SampleFormat::cf32 : SampleFormat::ci16;
    if (header.is_24_bit) recording.integers = {.bytes = 4, .bits = 24};
    recording.sample_rate_hz = header.sample_rate_hz;
    recording.center_frequency_hz = header.center_frequency_hz;
    apply_hints(hints, recording);
    const std::uint64_t size = internal::File::open_regular(path).size();
    measure_data(recording, Extent{SdriqHeader::kBytes, size - SdriqHeader::kBytes});
    return recording;
}

// What cannot be looked at is told by who opens it.
bool is_there(const fs::path& path) {
    std::error_code unknown;
    return fs::exists(path, unknown);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

Recording examined(const fs::path& path, const RecordingHints& hints);

}  // namespace

std::optional<SampleFormat> raw_format(const fs::path& path) {
    return read_recording_name(path.filename().string()).format;
}

std::string cut_sample_text(std::uint64_t bytes, std::size_t sample_bytes) {
    return fmt::format("the last sample is cut off, and not read: {} of its {} bytes are there", bytes,
                       sample_bytes);
}

std::size_t stored_bytes_per_sample(const Recording& recording) {
    return recording.integers.bytes > 0 ? 2 * recording.integers.bytes
                                        : dsp::bytes_per_sample(recording.format);
}

Recording open_recording(const fs::path& path, const RecordingHints& hints) {
    Recording recording = examined(path, hints);
    const double rate_hz = recording.sample_rate_hz.value_or(kLeastSampleRateHz);
    if (rate_hz >= kLeastSampleRateHz && rate_hz <= kMostSampleRateHz) return recording;
    throw IoError(
        fmt::format("'{}' is said to have {} samples a second; from {} to {} make sense: give --rate",
                    path.string(), rate_hz, kLeastSampleRateHz, kMostSampleRateHz));
}

namespace {

Recording examined(const fs::path& path, const RecordingHints& hints) {
    if (path.extension() == ".sigmf" || path.string().ends_with(".sigmf.zst"))
        return open_archive(path, hints);
    for (const char* const extension : {".wav", ".w64", ".rf64", ".bw64"})
        if (equal_ignoring_case(path.extension().string(), extension)) return open_wav(path, hints);
    if (equal_ignoring_case(path.extension().string(), ".sdriq")) return open_sdriq(path, hints);
    const auto paths = sigmf_paths(path);
    const bool is_data = path == paths.data;
    const bool has_metadata = is_there(paths.meta);
    if (path == paths.meta || (has_metadata && (is_data || !is_there(path)))) {
        return open_sigmf(paths, hints);
    }
    const auto format = hints.format ? hints.format : raw_format(path);
    if (format) {
        return open_raw(path, *format, hints);
    }
    if (!is_there(path)) internal::File::open_regular(path);  // throws: no name makes up for that
    const auto why = is_data ? fmt::format("its metadata '{}' are missing", paths.meta.string())
                             : std::string("its name does not tell the sample format");
    throw IoError(fmt::format(
        "cannot read '{}': {}; name a .sigmf-meta file, a .sigmf archive, a .wav or an .sdriq file, say the "
        "format (cf32, cf64, ci16, ci8, cu8) or use one of the extensions .cf32 .fc32 .cfile .cf64 .ci16 "
        ".cs16 "
        ".sc16 .ci8 .cs8 .cu8",
        path.string(), why));
}

}  // namespace

}  // namespace tidemill::io

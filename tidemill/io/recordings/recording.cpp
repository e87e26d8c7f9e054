#include "tidemill/io/recordings/recording.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "tidemill/io/files/internal/packed_file.hpp"
#include "tidemill/io/files/internal/recorded_file.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/byte_stream_source.hpp"
#include "tidemill/io/recordings/gnuradio_meta.hpp"
#include "tidemill/io/recordings/internal/opened_recording.hpp"
#include "tidemill/io/recordings/recording_name.hpp"
#include "tidemill/io/recordings/sdriq_header.hpp"
#include "tidemill/io/recordings/sigmf.hpp"
#include "tidemill/io/recordings/sigmf_recording.hpp"
#include "tidemill/io/recordings/wav_header.hpp"

namespace tidemill::io {
namespace {

using dsp::SampleFormat;
using internal::Extent;
using internal::has_extension;
using internal::is_there;
namespace fs = std::filesystem;

Recording open_raw(const fs::path& path, const RecordingName& name, const RecordingHints& hints) {
    Recording recording;
    recording.data_path = path;
    recording.format = name.format ? *name.format : hints.format.value();
    recording.integers = name.integers;
    recording.sample_rate_hz = name.sample_rate_hz;
    recording.center_frequency_hz = name.center_frequency_hz;
    recording.warnings = name.warnings;
    internal::apply_hints(hints, recording, "its name says");
    internal::measure_data(recording);
    return recording;
}

// A field of 32 bits holds no frequency beyond; of what it can hold the header knows better than a name.
void take_frequency(const WavHeader& header, const RecordingName& name, Recording& recording) {
    const auto &by_header = header.center_frequency_hz, &by_name = name.center_frequency_hz;
    recording.center_frequency_hz = by_header ? by_header : by_name;
    if (!by_header || !by_name || *by_header == *by_name) return;
    const bool is_beyond = *by_name > UINT32_MAX;
    if (is_beyond) recording.center_frequency_hz = by_name;
    if (is_beyond && std::fmod(*by_name, 0x1p32) == *by_header) return;
    recording.warnings.push_back(
        fmt::format("its header says that the middle lies at {} Hz, its name {} Hz: the {} counts, as {}",
                    *by_header, *by_name, is_beyond ? "name" : "header",
                    is_beyond ? "the header's 32 bits cannot hold that" : "names are given by hand"));
}

Recording open_wav(const fs::path& path, const RecordingHints& hints) {
    const WavHeader header = read_wav_header(path);
    const RecordingName name = read_recording_name(path.filename().string());
    Recording recording;
    recording.data_path = path;
    recording.format = header.format;
    recording.integers = header.integers;
    recording.warnings = header.warnings;
    recording.sample_rate_hz = header.sample_rate_hz ? header.sample_rate_hz : name.sample_rate_hz;
    if (name.sample_rate_hz && recording.sample_rate_hz != name.sample_rate_hz && !hints.sample_rate_hz)
        recording.warnings.push_back(fmt::format(
            "its header says {} samples a second, its name {}: the header counts, as names are given by hand",
            *recording.sample_rate_hz, *name.sample_rate_hz));
    take_frequency(header, name, recording);
    internal::apply_hints(hints, recording, "the metadata say");
    internal::measure_data(recording, Extent{header.data_offset, header.data_bytes});
    if (!recording.sample_rate_hz)
        recording.warnings.emplace_back("neither its header nor its name gives a sample rate");
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
    internal::apply_hints(hints, recording, "the metadata say");
    const std::uint64_t size = internal::File::open_regular(path).size();
    internal::measure_data(recording, Extent{SdriqHeader::kBytes, size - SdriqHeader::kBytes});
    return recording;
}

// Segments follow one another, headers between them.
Recording open_gnuradio(const fs::path& path, const GnuRadioMeta& meta, const RecordingHints& hints) {
    Recording recording;
    recording.data_path = path;
    recording.format = meta.format;
    recording.integers = meta.integers;
    recording.sample_rate_hz = meta.sample_rate_hz;
    recording.center_frequency_hz = meta.center_frequency_hz;
    internal::apply_hints(hints, recording, "its headers say");
    const std::size_t sample_bytes = stored_bytes_per_sample(recording);
    std::uint64_t bytes = 0;
    for (const auto& segment : meta.segments) bytes += segment.bytes / sample_bytes * sample_bytes;
    internal::measure_data(recording, Extent{meta.segments.front().offset, bytes});
    std::uint64_t first = 0;
    for (const auto& segment : meta.segments) {
        if (first > 0) recording.more_pieces.push_back({first, segment.offset});
        first += segment.bytes / sample_bytes;
    }
    if (meta.no_header_at > 0)
        recording.warnings.push_back(
            fmt::format("at byte {} no header stands where one has to: all behind it is read as samples",
                        meta.no_header_at));
    if (meta.is_cut_off)
        recording.warnings.emplace_back("the last header promises more samples than there are");
    return recording;
}

Recording examined(const fs::path& path, const RecordingHints& hints);

}  // namespace

void internal::measure_data(Recording& recording, const std::optional<Extent>& part) {
    const RecordedFile file(recording.data_path);
    const auto size = part ? part->size : file.size();
    recording.data_offset = recording.dataset_offset = part ? part->offset : 0;
    recording.dataset_bytes = size;
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

void internal::apply_hints(const RecordingHints& hints, Recording& recording, std::string_view who_says) {
    const StoredIntegers& integers = recording.integers;
    if (hints.format && (*hints.format != recording.format || integers.bytes > 0)) {
        const std::string said = integers.bytes > 0 ? fmt::format("integers of {} bits", integers.bits)
                                                    : std::string(sigmf_datatype(recording.format));
        recording.warnings.push_back(
            fmt::format("the samples are read as {}, {} {}", sigmf_datatype(*hints.format), who_says, said));
        recording.format = *hints.format;
        recording.integers = {};
    }
    if (!hints.sample_rate_hz) return;
    if (recording.sample_rate_hz && *recording.sample_rate_hz != *hints.sample_rate_hz) {
        recording.warnings.push_back(fmt::format("the sample rate is taken as {} Hz, {} {} Hz",
                                                 *hints.sample_rate_hz, who_says, *recording.sample_rate_hz));
    }
    recording.sample_rate_hz = hints.sample_rate_hz;
}

bool internal::has_extension(const fs::path& path, std::string_view extension) {
    const std::string name = path.filename().string();
    if (name.size() <= extension.size()) return false;
    return std::ranges::equal(
        std::string_view(name).substr(name.size() - extension.size()), extension,
        [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool internal::is_there(const fs::path& path) {
    std::error_code unknown;
    return fs::exists(path, unknown);
}

SamplePlace place_of_sample(const Recording& recording, std::uint64_t sample) {
    const auto& pieces = recording.more_pieces;
    const auto next = std::ranges::upper_bound(pieces, sample, {}, &DataPiece::first_sample);
    const DataPiece piece = next == pieces.begin() ? DataPiece{0, recording.data_offset} : *std::prev(next);
    return {piece.offset + (sample - piece.first_sample) * stored_bytes_per_sample(recording),
            next == pieces.end() ? recording.samples : next->first_sample};
}

void skip_bytes(Recording& recording, std::uint64_t bytes) {
    if (bytes == 0) return;
    const std::size_t sample_bytes = stored_bytes_per_sample(recording);
    const std::uint64_t left = recording.samples * sample_bytes + recording.trailing_bytes;
    if (bytes >= left)
        throw IoError(
            fmt::format("'{}' holds no samples behind {} bytes", recording.data_path.string(), bytes));
    recording.data_offset += bytes;
    recording.samples = (left - bytes) / sample_bytes;
    recording.trailing_bytes = (left - bytes) % sample_bytes;
    for (DataPiece& piece : recording.more_pieces) piece.offset += bytes;
    recording.sha512.clear();
}

void keep_part(Recording& recording, std::uint64_t first, std::uint64_t count) {
    recording.data_offset = place_of_sample(recording, first).offset;
    std::erase_if(recording.more_pieces, [&](const DataPiece& piece) {
        return piece.first_sample <= first || piece.first_sample >= first + count;
    });
    for (DataPiece& piece : recording.more_pieces) piece.first_sample -= first;
    recording.samples = count;
    recording.sha512.clear();  // of the whole
}

std::optional<SampleFormat> raw_format(const fs::path& path) {
    const RecordingName name = read_recording_name(path.filename().string());
    const bool is_plain = name.integers.bytes == 0 && internal::without_packing(path) == path;
    return is_plain ? name.format : std::nullopt;
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

// The file may have any name; one that cannot be read is reported when it is opened.
bool begins_as_wav(const fs::path& path) {
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown)) return false;
    std::array<char, 12> begin{};
    internal::File::open_regular(path).read_at(std::as_writable_bytes(std::span(begin)), 0);
    const std::string_view text(begin.data(), begin.size());
    return (text.starts_with("RIFF") || text.starts_with("RF64") || text.starts_with("BW64")) &&
           text.ends_with("WAVE");
}

std::optional<GnuRadioMeta> gnuradio_meta(const fs::path& path) {
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown)) return std::nullopt;
    return read_gnuradio_meta(path);
}

// The ._ files that macOS puts beside others hold no samples.
[[noreturn]] void fail_unknown(const fs::path& path, const std::string& why) {
    const std::string name = path.filename().string();
    if (name.starts_with("._"))
        throw IoError(fmt::format("'{}' holds what macOS keeps beside '{}': name that", path.string(),
                                  (path.parent_path() / name.substr(2)).string()));
    throw IoError(fmt::format(
        "cannot read '{}': {}; name a .sigmf-meta file, a .sigmf archive, a .wav or an .sdriq file, say the "
        "format (cf32, cf64, ci16, ci8, cu8) or use one of the extensions {}, with .gz, .xz, .bz2 or .zst "
        "behind it where it is compressed",
        path.string(), why, raw_extensions()));
}

Recording examined(const fs::path& path, const RecordingHints& hints) {
    if (const auto member = sigmf_member(path)) return open_sigmf_member(*member, hints);
    if (has_extension(path, ".sigmf-collection")) return open_sigmf_collection(path, hints);
    for (const char* const extension : {".wav", ".w64", ".rf64", ".bw64"})
        if (has_extension(path, extension)) return open_wav(path, hints);
    if (has_extension(path, ".sdriq")) return open_sdriq(path, hints);
    const auto paths = sigmf_paths(path);
    const bool is_data = path == paths.data;
    const bool has_metadata = is_there(paths.meta);
    if (path == paths.meta || (has_metadata && (is_data || !is_there(path)))) {
        return open_sigmf(paths, hints);
    }
    if (begins_as_wav(path)) return open_wav(path, hints);
    if (const auto meta = gnuradio_meta(path)) return open_gnuradio(path, *meta, hints);
    for (const char* const extension : {".wav", ".w64", ".sdriq", ".sigmf-data"})
        if (const fs::path inside = internal::without_packing(path);
            inside != path && has_extension(inside, extension))
            throw IoError(
                fmt::format("cannot read '{}': only raw samples and archives are read compressed; "
                            "unpack it first",
                            path.string()));
    const RecordingName name = read_recording_name(path.filename().string());
    if (hints.format || name.format) return open_raw(path, name, hints);
    if (!is_there(path)) internal::File::open_regular(path);  // throws: no name makes up for that
    fail_unknown(path, is_data ? fmt::format("its metadata '{}' are missing", paths.meta.string())
                               : std::string("its name does not give the sample format"));
}

}  // namespace

}  // namespace tidemill::io

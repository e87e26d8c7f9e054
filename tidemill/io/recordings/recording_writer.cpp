#include "tidemill/io/recordings/recording_writer.hpp"

#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "tidemill/io/files/internal/background_digest.hpp"
#include "tidemill/io/files/internal/output_file.hpp"
#include "tidemill/io/files/standard_stream.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/quantize.hpp"
#include "tidemill/io/live/vita49_sender.hpp"
#include "tidemill/io/live/vita49_source.hpp"
#include "tidemill/io/recordings/recording.hpp"

namespace tidemill::io {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& why) {
    throw IoError(fmt::format("cannot write samples to '{}': {}", path.string(), why));
}

// Neither a file nor a folder: what is written there is not kept under a name.
bool takes_a_stream(const std::filesystem::path& path) {
    std::error_code unknown;
    const auto status = std::filesystem::status(path, unknown);
    return is_standard_stream(path) || (exists(status) && !is_regular_file(status) && !is_directory(status));
}

// Packets have their own order of bytes.
dsp::SampleFormat sent_as(const std::filesystem::path& place, dsp::SampleFormat wanted) {
    if (wanted == dsp::SampleFormat::ci16) wanted = dsp::SampleFormat::ci16_be;
    if (vita_layout(wanted)) return wanted;
    fail(place, fmt::format("packets hold ci8 or ci16, not {}", sigmf_datatype(wanted)));
}

bool names_sigmf(const std::filesystem::path& path) {
    const auto extension = path.extension();
    const bool has_name = !path.filename().empty() && path.stem() != ".." && path.stem() != ".";
    return has_name && (extension.empty() || extension == ".sigmf-meta" || extension == ".sigmf-data");
}

}  // namespace

StoredAs stored_as(const std::filesystem::path& path, std::optional<dsp::SampleFormat> wanted) {
    if (is_vita_place(path)) return {true, sent_as(path, wanted.value_or(dsp::SampleFormat::ci16_be))};
    const StoredAs chosen{takes_a_stream(path), wanted.value_or(dsp::SampleFormat::ci8)};
    if (chosen.raw) return chosen;
    if (const auto promised = raw_format(path)) {
        if (promised == wanted.value_or(*promised)) return {true, *promised};
        fail(path, fmt::format("its extension promises {}, not {}", sigmf_datatype(*promised),
                               sigmf_datatype(*wanted)));
    }
    std::error_code unknown;
    if (std::filesystem::is_directory(path, unknown)) fail(path, "it is a folder; name a file in it");
    if (names_sigmf(path)) return chosen;
    fail(path,
         "its name does not give the format; use .sigmf-meta, one of the raw extensions .cf32 .cfile .cf64 "
         ".ci16 "
         ".cs16 .ci8 .cs8 .cu8 and those like them, or -");
}

struct RecordingWriter::Files {
    Files(const std::filesystem::path& path, SigmfMetadata& metadata) {
        const StoredAs how = stored_as(path, metadata.format);
        metadata.format = how.format;
        if (is_vita_place(path)) {
            packets.emplace(path, VitaSending{.format = how.format,
                                              .sample_rate_hz = metadata.sample_rate_hz.value_or(0),
                                              .frequency_hz = metadata.center_frequency_hz});
            return;
        }
        data.emplace(how.raw ? path : sigmf_paths(path).data);
        if (!how.raw) meta.emplace(sigmf_paths(path).meta);
    }

    std::optional<VitaSender> packets;  // instead of files
    std::optional<internal::OutputFile> data;
    std::optional<internal::OutputFile> meta;  // none of raw samples
    internal::BackgroundDigest digest;
};

RecordingWriter::RecordingWriter(const std::filesystem::path& path, SigmfMetadata description, float gain)
    : metadata_(std::move(description)), gain_(gain), files_(std::make_unique<Files>(path, metadata_)) {}

RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;

RecordingWriter::~RecordingWriter() = default;

void RecordingWriter::write(std::span<const dsp::Iq> samples) {
    block_.resize(samples.size() * dsp::bytes_per_sample(metadata_.format));
    const std::uint64_t limited = quantize(samples, gain_, metadata_.format, block_);
    write_raw(block_, limited);
}

void RecordingWriter::write_raw(std::span<const std::byte> samples, std::uint64_t limited) {
    if (files_->meta) files_->meta->begin();  // what it says of other data is not true any more
    if (files_->packets) files_->packets->write(samples);
    if (files_->data) files_->data->write_all(samples);
    if (files_->meta) files_->digest.update(samples);
    limited_samples_ += limited;
    samples_ += samples.size() / dsp::bytes_per_sample(metadata_.format);
}

void RecordingWriter::close() {
    if (files_->packets) files_->packets->close();
    if (files_->data) files_->data->close();
    if (!files_->meta) return;
    metadata_.sha512 = files_->digest.finish();
    const auto text = format_sigmf(metadata_);
    files_->meta->write_all(std::as_bytes(std::span(text)));
    files_->meta->close();
}

void RecordingWriter::end() noexcept {
    if (files_->packets) files_->packets->end();
}

}  // namespace tidemill::io

#include "tidemill/io/recording_writer.hpp"

#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/quantize.hpp"
#include "tidemill/io/recording.hpp"
#include "tidemill/io/standard_stream.hpp"

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

bool names_sigmf(const std::filesystem::path& path) {
    const auto extension = path.extension();
    const bool has_name = !path.filename().empty() && path.stem() != ".." && path.stem() != ".";
    return has_name && (extension.empty() || extension == ".sigmf-meta" || extension == ".sigmf-data");
}

}  // namespace

StoredAs stored_as(const std::filesystem::path& path, std::optional<dsp::SampleFormat> wanted) {
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
         "its name does not tell how; use .sigmf-meta, one of the raw extensions .cf32 .cfile .cf64 .ci16 "
         ".cs16 .ci8 .cs8 .cu8, or -");
}

RecordingWriter::RecordingWriter(const std::filesystem::path& path, SigmfMetadata description, float gain)
    : metadata_(std::move(description)),
      gain_(gain),
      is_raw_(stored_as(path, metadata_.format).raw),
      data_(is_raw_ ? path : sigmf_paths(path).data) {
    if (!is_raw_) meta_.emplace(sigmf_paths(path).meta);
}

void RecordingWriter::write(std::span<const dsp::Iq> samples) {
    if (meta_) meta_->begin();  // what it says of other data is not true any more
    block_.resize(samples.size() * dsp::bytes_per_sample(metadata_.format));
    limited_samples_ += quantize(samples, gain_, metadata_.format, block_);
    data_.write_all(block_);
    if (!is_raw_) sha_.update(block_);
    samples_ += samples.size();
}

void RecordingWriter::close() {
    data_.close();
    if (!meta_) return;
    metadata_.sha512 = sha_.finish();
    const auto text = format_sigmf(metadata_);
    meta_->write_all(std::as_bytes(std::span(text)));
    meta_->close();
}

}  // namespace tidemill::io

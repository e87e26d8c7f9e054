#include "tidemill/io/recording_writer.hpp"

#include <utility>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/quantize.hpp"
#include "tidemill/io/recording.hpp"

namespace tidemill::io {
namespace {

bool checked_is_raw(const std::filesystem::path& path, dsp::SampleFormat format) {
    const auto by_name = raw_format(path);
    if (by_name && *by_name != format) {
        throw IoError(fmt::format("cannot write {} samples to '{}': its extension promises {}",
                                  sigmf_datatype(format), path.string(), sigmf_datatype(*by_name)));
    }
    return by_name.has_value() || path == "-";
}

}  // namespace

RecordingWriter::RecordingWriter(const std::filesystem::path& path, SigmfMetadata description, float gain)
    : metadata_(std::move(description)),
      gain_(gain),
      is_raw_(checked_is_raw(path, metadata_.format)),
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

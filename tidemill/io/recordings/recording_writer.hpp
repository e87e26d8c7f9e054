#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/io/recordings/sigmf.hpp"

namespace tidemill::io {

/// How samples are stored under a name.
struct StoredAs {
    bool raw = false;  ///< samples alone; else SigMF
    dsp::SampleFormat format = dsp::SampleFormat::ci8;
};

/// Raw samples in the format of a raw extension, or as `wanted` where the path is "-", a device or a named
/// pipe; packets of ci16_be or ci8 where it is "vita49://host:port"; SigMF, as `wanted`, when it ends in
/// .sigmf-meta or .sigmf-data or has no extension. Throws IoError for every other name, for a folder, and
/// when the extension promises another format than `wanted`.
StoredAs stored_as(const std::filesystem::path& path, std::optional<dsp::SampleFormat> wanted);

/// Writes samples as stored_as() says of the path. Packets leave at the samples' own pace.
class RecordingWriter {
  public:
    /// Opens the files of `path` (see sigmf_paths), which keep what they held until something is written;
    /// samples are multiplied by `gain` and quantised as `description.format` says, with full scale 1.0.
    /// Throws IoError as stored_as() does, and when a file cannot be opened.
    RecordingWriter(const std::filesystem::path& path, SigmfMetadata description, float gain);
    RecordingWriter(RecordingWriter&&) noexcept;
    ~RecordingWriter();

    /// Appends samples; throws IoError when the disk is full or the path fails in another way.
    void write(std::span<const dsp::Iq> samples);

    /// Appends whole samples that have the format already, so many of them limited.
    void write_raw(std::span<const std::byte> samples, std::uint64_t limited = 0);

    /// How samples are stored, and by what they are multiplied before.
    dsp::SampleFormat format() const { return metadata_.format; }
    float gain() const { return gain_; }

    /// Sets the annotations that close() writes.
    void annotate(std::vector<SigmfAnnotation> annotations) {
        metadata_.annotations = std::move(annotations);
    }

    /// Writes the metadata with the SHA-512 of the data, and closes; without it there is no valid recording.
    void close();

    /// From any thread: ends a wait to send packets, and later ones are not sent.
    void end() noexcept;

    std::uint64_t samples() const { return samples_; }

    /// Samples beyond full scale or not a number.
    std::uint64_t limited_samples() const { return limited_samples_; }

  private:
    struct Files;

    SigmfMetadata metadata_;
    float gain_;
    std::unique_ptr<Files> files_;
    std::vector<std::byte> block_;
    std::uint64_t samples_ = 0;
    std::uint64_t limited_samples_ = 0;
};

}  // namespace tidemill::io

#pragma once

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "tidemill/apps/outputs/byte_output.hpp"
#include "tidemill/io/recordings/recording_writer.hpp"

namespace tidemill::cli {

using IqAnnotations = std::vector<io::SigmfAnnotation>;

/// A SigMF recording of samples as they are, with annotations that are known when it is closed.
class IqFile final : public ByteOutput {
  public:
    IqFile(const std::filesystem::path& path, const io::SigmfMetadata& samples,
           std::shared_ptr<const IqAnnotations> annotations)
        : writer_(path, samples, 1), annotations_(std::move(annotations)) {}

    void write(std::span<const std::uint8_t> samples) override {
        last_bytes_ = samples.size();
        writer_.write_raw(std::as_bytes(samples));
    }
    void close() override {
        writer_.annotate(*annotations_);
        writer_.close();
    }
    std::uint64_t bytes_kept_back() const override { return last_bytes_; }

  private:
    io::RecordingWriter writer_;
    std::shared_ptr<const IqAnnotations> annotations_;
    std::uint64_t last_bytes_ = 0;
};

}  // namespace tidemill::cli

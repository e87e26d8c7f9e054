#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/io/live/input_stream.hpp"
#include "tidemill/io/live/live_source.hpp"

namespace tidemill::io {

/// Remark on a sample of which not all bytes are there.
std::string cut_sample_text(std::uint64_t bytes, std::size_t sample_bytes);

/// Raw samples from an InputStream, which have no header. The header of a WAV file before them is left out,
/// as remarks() says; one that belongs to other samples is an IoError.
class ByteStreamSource final : public LiveSource {
  public:
    /// Sets the other end up before samples come; false where it has gone.
    using SetUp = std::function<bool(InputStream&)>;

    /// A control, and how a value reaches the other end.
    struct Adjustment {
        SourceControl control;
        std::function<void(InputStream&, double)> tell;
    };

    /// How long nothing may come from an other end that never stands still.
    struct Patience {
        std::chrono::milliseconds first{10'000};  ///< before its first samples
        std::chrono::milliseconds later{3'000};
    };

    /// Throws IoError as InputStream does.
    ByteStreamSource(const std::filesystem::path& place, dsp::SampleFormat format,
                     std::optional<double> sample_rate_hz, SetUp set_up = {},
                     std::optional<Adjustment> adjustment = {}, std::optional<Patience> patience = {});

    dsp::SampleFormat format() const override { return format_; }
    std::optional<double> sample_rate_hz() const override { return sample_rate_hz_; }
    bool begin() override { return !set_up_ || set_up_(stream_); }

    /// Waits for at least one sample; a part of a sample at the end is left out, as remarks() says. Throws
    /// IoError, also where the patience is over.
    std::size_t read(std::span<std::byte> to) override;
    void end() noexcept override { stream_.end(); }
    std::string remarks() const override;

    std::vector<SourceControl> controls() const override;
    void control(std::size_t index, double value) override;

  private:
    void look_for_wav();
    void read_wav_header();
    std::size_t read_some(std::span<std::byte> to);

    InputStream stream_;
    bool looked_ = false;             // whether they begin with a header
    std::vector<std::byte> ahead_{};  // read for that
    dsp::SampleFormat format_;
    std::optional<double> sample_rate_hz_;
    SetUp set_up_;
    std::optional<Adjustment> adjustment_;
    std::optional<Patience> patience_;
    std::atomic<double> wanted_;  // of the control
    double told_;
    std::atomic<std::size_t> cut_bytes_{0};      // of the last sample; 0: it is whole
    std::atomic<std::uint32_t> wav_rate_hz_{0};  // that a header says; 0: there is none
};

}  // namespace tidemill::io

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dvbs2/channel/channel.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/loopback/shared_air.hpp"

namespace tidemill::loopback {

/// Samples by their numbers from 0 on; each read goes on where the last ended, or further on.
class SampleFeed {
  public:
    virtual ~SampleFeed() = default;
    virtual dsp::SampleFormat format() const = 0;
    /// Fills the span with whole samples; silence where there are none.
    virtual void read(std::uint64_t first, std::span<std::byte> to) = 0;
};

/// A recording's.
class RecordingFeed final : public SampleFeed {
  public:
    /// Throws io::IoError.
    RecordingFeed(const io::Recording& recording, bool repeat);
    dsp::SampleFormat format() const override { return reader_.format(); }
    void read(std::uint64_t first, std::span<std::byte> to) override;

  private:
    io::RecordingReader reader_;
    bool repeat_;
};

/// Nothing at all.
class SilentFeed final : public SampleFeed {
  public:
    dsp::SampleFormat format() const override { return dsp::SampleFormat::cf32; }
    void read(std::uint64_t first, std::span<std::byte> to) override;
};

/// The data that are sent.
class AirFeed final : public SampleFeed {
  public:
    explicit AirFeed(const SharedAir& air) : air_(air) {}
    dsp::SampleFormat format() const override { return dsp::SampleFormat::cf32; }
    void read(std::uint64_t first, std::span<std::byte> to) override;

  private:
    const SharedAir& air_;
    std::vector<dsp::Iq> samples_;
};

/// Another feed's, through a channel. What is left out goes through it as well, so what comes later is what
/// it would have been.
class ChannelFeed final : public SampleFeed {
  public:
    /// From sample `first` on. `level_dbfs` is the feed's, and becomes that of signal and noise. Throws
    /// dvbs2::Dvbs2Error.
    ChannelFeed(std::unique_ptr<SampleFeed> feed, const dvbs2::ChannelConfig& config, double level_dbfs,
                std::uint64_t first = 0);
    dsp::SampleFormat format() const override { return dsp::SampleFormat::cf32; }
    void read(std::uint64_t first, std::span<std::byte> to) override;

  private:
    void make();

    std::unique_ptr<SampleFeed> feed_;
    dvbs2::Channel channel_;
    float gain_in_, gain_out_;
    std::uint64_t taken_;  // of the feed
    std::uint64_t made_;   // the number of the first sample in received_
    std::vector<std::byte> bytes_;
    std::vector<dsp::Iq> samples_, received_;
};

/// Another feed's in another format.
class ConvertedFeed final : public SampleFeed {
  public:
    ConvertedFeed(std::unique_ptr<SampleFeed> feed, dsp::SampleFormat format)
        : feed_(std::move(feed)), format_(format) {}
    dsp::SampleFormat format() const override { return format_; }
    void read(std::uint64_t first, std::span<std::byte> to) override;

  private:
    std::unique_ptr<SampleFeed> feed_;
    dsp::SampleFormat format_;
    std::vector<std::byte> bytes_;
    std::vector<dsp::Iq> samples_;
};

}  // namespace tidemill::loopback

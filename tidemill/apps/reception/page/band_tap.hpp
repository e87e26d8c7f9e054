#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "tidemill/base/json.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::cli {

/// The samples of a whole band on their way to a tuner, of which somebody may have a look at a few.
class BandTap final : public io::SampleSource {
  public:
    explicit BandTap(std::unique_ptr<io::SampleSource> from);

    dsp::SampleFormat format() const override { return from_->format(); }
    std::optional<double> sample_rate_hz() const override { return from_->sample_rate_hz(); }
    io::BandMove moved() const override { return from_->moved(); }
    std::vector<io::SourceControl> controls() const override { return from_->controls(); }
    void control(std::size_t index, double value) override { from_->control(index, value); }
    std::size_t read(std::span<std::byte> to) override;

    const io::SampleSource& source() const { return *from_; }

    /// The spectrum of what was copied since the last call, in dB from minus to plus half of the rate, and
    /// asks for more; an empty array where nothing came. By one thread other than the one that reads.
    Json spectrum_db();

  private:
    enum State : int { wanted, taken };

    std::unique_ptr<io::SampleSource> from_;
    std::vector<std::byte> copied_;  // its owner is in the state: the reader while wanted
    std::size_t filled_ = 0;
    std::atomic<int> state_{wanted};
};

/// Powers as a picture shows them: tenths of dB.
Json spectrum_json(std::span<const float> power);

}  // namespace tidemill::cli

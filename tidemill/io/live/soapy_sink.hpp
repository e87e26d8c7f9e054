#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/io/live/live_clock.hpp"
#include "tidemill/io/live/rtl_tcp.hpp"
#include "tidemill/io/live/soapy_stream.hpp"

namespace tidemill::io {

/// Transmits through SoapySDR. The signal rises out of silence and falls into it again, so that nothing else
/// is heard beside it, and no sample is beyond full scale, whatever its phase.
class SoapySink {
  public:
    struct Config {
        float gain = 1;                 ///< of the samples
        std::size_t ramp_samples = 64;  ///< in which it rises, and falls
    };

    /// Throws IoError, also for a radio that has another rate than the one asked for.
    SoapySink(const SoapyLibrary& library, const std::string& place, const RadioSettings& settings,
              const Config& config, std::unique_ptr<LiveClock> clock = std::make_unique<LiveClock>());

    /// Waits as the radio takes them; throws IoError when it takes none.
    void write(std::span<const dsp::Iq> samples);

    /// The signal falls, and after so many samples of silence rises again with what comes then.
    void rest(std::uint64_t samples);

    /// Ends the signal, and waits until it has left.
    void close();

    /// From another thread: a writer waits no longer, and what is not sent yet is not sent.
    void stop() noexcept { stopped_ = true; }

    std::uint64_t samples() const { return samples_; }
    std::uint64_t limited_samples() const { return limited_samples_; }
    /// How often the radio had nothing to send in time.
    std::uint64_t underflows() const { return underflows_; }

  private:
    enum class Following { more, nothing };

    void shape(std::span<const dsp::Iq> samples);
    void send(std::span<const dsp::Iq> samples, Following following);
    void fall();
    void send_silence(std::uint64_t samples, Following following);
    std::uint64_t edge_samples() const;
    void count_underflows();

    std::unique_ptr<LiveClock> clock_;
    SoapyDevice radio_;
    double sample_rate_hz_;
    dsp::SampleFormat format_;
    SoapyStream stream_;
    Config config_;
    std::vector<dsp::Iq> held_;  // the last ones, which fall when no more come
    std::vector<dsp::Iq> shaped_;
    std::vector<std::byte> bytes_;
    std::size_t risen_ = 0;  // samples of the ramp that are behind us
    std::uint64_t samples_ = 0, limited_samples_ = 0;
    std::atomic<std::uint64_t> underflows_{0};
    std::atomic<bool> stopped_{false};
};

}  // namespace tidemill::io

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/io/live/soapy_device.hpp"

namespace tidemill::io {

namespace internal {
struct SoapyStreamHandle;
}

/// Samples to or from a radio, from when this is made on and until it is gone.
class SoapyStream {
  public:
    /// In a format that the radio has, its own before others. Throws IoError.
    static dsp::SampleFormat best_format(const SoapyDevice& radio);

    /// The radio must outlive it. Throws IoError.
    SoapyStream(const SoapyDevice& radio, dsp::SampleFormat format);
    SoapyStream(const SoapyStream&) = delete;
    SoapyStream& operator=(const SoapyStream&) = delete;
    ~SoapyStream();

    /// Samples that came, or what came instead of them.
    struct Outcome {
        int status = 0;  ///< samples; below 0 one of SoapySDR's errors
        std::optional<std::int64_t> time_ns{};

        bool is_timeout() const;
        bool is_overflow() const;
        bool is_underflow() const;
        /// Whether an error is none of these: the radio has to be opened anew.
        bool is_failure() const;
    };

    Outcome read(std::byte* to, std::size_t samples, std::int64_t wait_us) const;
    Outcome write(const std::byte* from, std::size_t samples, bool last, std::int64_t wait_us) const;

    /// Outcome of what was written; does not wait.
    Outcome written() const;

    /// The library's text for an error.
    std::string error_text(const Outcome& outcome) const;

  private:
    const SoapyDevice& radio_;
    internal::SoapyStreamHandle* handle_;
};

}  // namespace tidemill::io

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidemill/io/live/soapy_library.hpp"

namespace tidemill::io {

namespace internal {
struct SoapyHandle;
}

/// Values that a radio can be set to, both ends included.
struct RadioRange {
    double least = 0;
    double most = 0;
};

/// "0.225 to 0.3, 0.9 to 3.2": each number times `scale`, a single value as itself.
std::string ranges_text(const std::vector<RadioRange>& ranges, double scale);

enum class SoapyDirection { send = 0, receive = 1 };

/// A radio that SoapySDR's library has opened, seen from its first channel in one direction.
class SoapyDevice {
  public:
    /// `place` as SoapySDR writes it: "driver=rtlsdr,serial=00000001". Throws IoError.
    SoapyDevice(const SoapyLibrary& library, std::string place, SoapyDirection direction);
    /// In the direction that it has, receiving before sending.
    SoapyDevice(const SoapyLibrary& library, std::string place);
    SoapyDevice(const SoapyDevice&) = delete;
    SoapyDevice& operator=(const SoapyDevice&) = delete;
    ~SoapyDevice();

    const std::string& place() const { return place_; }
    bool has(SoapyDirection direction) const;

    std::vector<RadioRange> rates() const;        ///< samples per second
    std::vector<RadioRange> frequencies() const;  ///< hertz
    std::vector<RadioRange> bandwidths() const;
    RadioRange gain_db() const;
    std::vector<std::string> antennas() const;
    std::vector<std::string> formats() const;  ///< of samples, as SoapySDR calls them
    std::string native_format() const;
    std::vector<std::string> settings() const;          ///< keys, of the device as a whole
    std::vector<std::string> channel_settings() const;  ///< of the channel alone

    const internal::SoapyApi& api() const { return api_; }
    internal::SoapyHandle* handle() const { return handle_; }
    int direction() const { return static_cast<int>(direction_); }

    /// Throws with the radio's last error.
    [[noreturn]] void fail(const std::string& what) const;

    /// Throws IoError where a function's status says that it failed.
    void check(int status, const std::string& what) const;

  private:
    std::string place_;
    const internal::SoapyApi& api_;
    internal::SoapyHandle* handle_;
    SoapyDirection direction_{};
};

}  // namespace tidemill::io

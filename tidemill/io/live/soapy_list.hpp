#pragma once

#include <string>
#include <vector>

#include "tidemill/io/live/soapy_device.hpp"

namespace tidemill::io {

/// A radio that SoapySDR found. Its texts come from the device: whatever stands in them.
struct FoundRadio {
    std::string place;  ///< by which it is opened: "driver=rtlsdr,serial=00000001"
    std::string label;
    bool receives = false;
    bool sends = false;
    std::vector<RadioRange> rates{};  ///< of the direction that it has, receiving before sending
    std::vector<RadioRange> frequencies{};
    RadioRange gain_db{};
    std::vector<std::string> antennas{};
    std::vector<std::string> settings{};
    std::string problem{};  ///< why it could not be asked; empty: it was
};

struct FoundRadios {
    std::vector<FoundRadio> radios;
    std::vector<std::string> modules;  ///< files that know kinds of radios
};

/// Looks for radios; `which` as SoapySDR writes it, "driver=rtlsdr", or empty for all. Each is opened for a
/// moment, to be asked what it can do.
FoundRadios find_radios(const SoapyLibrary& library, const std::string& which);

}  // namespace tidemill::io

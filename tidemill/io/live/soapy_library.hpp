#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tidemill::io {

namespace internal {
struct SoapyApi;
}

/// SoapySDR's library, found where the program runs and open until it ends: its modules do not like to be
/// closed.
class SoapyLibrary {
  public:
    /// A library by the name of its file; empty: this program itself, which has functions of these names.
    /// Throws IoError that says what to install, or what else is wrong with it.
    explicit SoapyLibrary(const std::string& file);
    SoapyLibrary(const SoapyLibrary&) = delete;
    SoapyLibrary& operator=(const SoapyLibrary&) = delete;
    ~SoapyLibrary();

    /// The system's, opened by the first caller. Throws IoError.
    static const SoapyLibrary& installed();

    const internal::SoapyApi& api() const { return *api_; }

  private:
    std::unique_ptr<const internal::SoapyApi> api_;
};

/// Whether a place names a radio of SoapySDR: "driver=rtlsdr,serial=00000001".
bool is_soapy_place(std::string_view place);

}  // namespace tidemill::io

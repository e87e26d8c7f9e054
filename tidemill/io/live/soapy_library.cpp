#include "tidemill/io/live/soapy_library.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/internal/soapy_api.hpp"
#include "tidemill/machine/shared_library.hpp"

namespace tidemill::io {

namespace {

constexpr const char* kInstalledFile = "libSoapySDR.so.0.8";
constexpr const char* kAbi = "0.8";

using OpenedLibrary = SharedLibrary<IoError>;

/// The functions of an opened library, by their names.
class SoapyNames {
  public:
    explicit SoapyNames(const OpenedLibrary& library) : library_(library) {}

    template <class Function>
    void find(const std::string& name, Function*& function) const {
        library_.find("SoapySDR" + name, function);
    }

    template <class Function>
    void find_of_device(const std::string& name, Function*& function) const {
        find("Device_" + name, function);
    }

  private:
    const OpenedLibrary& library_;
};

void find_helpers(const SoapyNames& names, internal::SoapyApi& api) {
    names.find("_getABIVersion", api.abi_version);
    names.find("_setLogLevel", api.set_log_level);
    names.find("_errToStr", api.error_text);
    names.find("_listModules", api.list_modules);
    names.find("_free", api.free);
    names.find("Strings_clear", api.clear_strings);
    names.find("KwargsList_clear", api.clear_kwargs_list);
    names.find("ArgInfoList_clear", api.clear_arg_info_list);
    names.find_of_device("lastError", api.last_error);
    names.find_of_device("enumerateStrArgs", api.enumerate);
    names.find_of_device("makeStrArgs", api.make);
    names.find_of_device("unmake", api.unmake);
    names.find_of_device("getNumChannels", api.channels);
}

void find_settings(const SoapyNames& names, internal::SoapyApi& api) {
    names.find_of_device("listAntennas", api.antennas);
    names.find_of_device("setAntenna", api.set_antenna);
    names.find_of_device("hasGainMode", api.has_gain_mode);
    names.find_of_device("setGainMode", api.set_gain_mode);
    names.find_of_device("getGainRange", api.gain_range);
    names.find_of_device("setGain", api.set_gain);
    names.find_of_device("getFrequencyRange", api.frequency_range);
    names.find_of_device("setFrequency", api.set_frequency);
    names.find_of_device("hasFrequencyCorrection", api.has_frequency_correction);
    names.find_of_device("setFrequencyCorrection", api.set_frequency_correction);
    names.find_of_device("getSampleRateRange", api.rate_range);
    names.find_of_device("setSampleRate", api.set_rate);
    names.find_of_device("getSampleRate", api.rate);
    names.find_of_device("getBandwidthRange", api.bandwidth_range);
    names.find_of_device("setBandwidth", api.set_bandwidth);
    names.find_of_device("getChannelSettingInfo", api.channel_settings);
    names.find_of_device("writeChannelSetting", api.write_channel_setting);
    names.find_of_device("getSettingInfo", api.settings);
    names.find_of_device("writeSetting", api.write_setting);
}

void find_streams(const SoapyNames& names, internal::SoapyApi& api) {
    names.find_of_device("getStreamFormats", api.stream_formats);
    names.find_of_device("getNativeStreamFormat", api.native_format);
    names.find_of_device("setupStream", api.set_up_stream);
    names.find_of_device("closeStream", api.close_stream);
    names.find_of_device("activateStream", api.activate);
    names.find_of_device("deactivateStream", api.deactivate);
    names.find_of_device("readStream", api.read);
    names.find_of_device("writeStream", api.write);
    names.find_of_device("readStreamStatus", api.read_status);
}

OpenedLibrary open_library(const std::string& file) {
    std::string why;
    if (const auto library = OpenedLibrary::open(file, why)) return *library;
    throw IoError(
        fmt::format("radios are reached through SoapySDR, which is not here ({}): install libsoapysdr0.8 "
                    "and the module of the radio, such as soapysdr0.8-module-rtlsdr",
                    why));
}

}  // namespace

SoapyLibrary::SoapyLibrary(const std::string& file) {
    const OpenedLibrary library = open_library(file);
    const SoapyNames names(library);
    auto api = std::make_unique<internal::SoapyApi>();
    find_helpers(names, *api);
    if (std::strcmp(api->abi_version(), kAbi) != 0)
        throw IoError(fmt::format("{} speaks version {} of its interface, and this program {}", file,
                                  api->abi_version(), kAbi));
    find_settings(names, *api);
    find_streams(names, *api);
    // Messages of modules while all goes well would stand among the program's own lines.
    if (!std::getenv("SOAPY_SDR_LOG_LEVEL")) api->set_log_level(internal::kSoapyLogErrors);
    api_ = std::move(api);
}

SoapyLibrary::~SoapyLibrary() = default;

const SoapyLibrary& SoapyLibrary::installed() {
    static const SoapyLibrary library{kInstalledFile};
    return library;
}

bool is_soapy_place(std::string_view place) {
    return place.starts_with("driver=");
}

}  // namespace tidemill::io

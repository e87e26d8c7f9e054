#include "tidemill/io/live/soapy_list.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/internal/soapy_api.hpp"

namespace tidemill::io {

namespace {

// Keys that distinguish a radio from others of its kind, not those that describe it.
bool identifies(std::string_view key) {
    return key == "driver" || key == "serial" || key == "device_id" || key.starts_with("remote");
}

FoundRadio described(const internal::SoapyKwargs& found) {
    FoundRadio radio;
    for (std::size_t i = 0; i < found.size; ++i) {
        const std::string key = found.keys[i], value = found.vals[i];
        if (key == "label") radio.label = value;
        if (identifies(key) && !value.empty())
            radio.place += (radio.place.empty() ? "" : ",") + key + "=" + value;
    }
    // The beginning of a place decides.
    const std::size_t driver = radio.place.find(",driver=");
    if (driver == std::string::npos) return radio;
    const std::size_t end = std::min(radio.place.size(), radio.place.find(',', driver + 1));
    radio.place = radio.place.substr(driver + 1, end - driver - 1) + "," + radio.place.substr(0, driver) +
                  radio.place.substr(end);
    return radio;
}

void ask(const SoapyDevice& device, FoundRadio& radio) {
    radio.rates = device.rates();
    radio.frequencies = device.frequencies();
    radio.gain_db = device.gain_db();
    radio.antennas = device.antennas();
    radio.settings = device.settings();
    std::ranges::copy(device.channel_settings(), std::back_inserter(radio.settings));
}

void ask(const SoapyLibrary& library, FoundRadio& radio) {
    try {
        const SoapyDevice device(library, radio.place);
        radio.receives = device.has(SoapyDirection::receive);
        radio.sends = device.has(SoapyDirection::send);
        ask(device, radio);
    } catch (const IoError& error) {
        radio.problem = error.what();
    }
}

}  // namespace

FoundRadios find_radios(const SoapyLibrary& library, const std::string& which) {
    const internal::SoapyApi& api = library.api();
    FoundRadios found;
    std::size_t count = 0;
    auto* const list = api.enumerate(which.c_str(), &count);
    if (list) {
        std::ranges::transform(std::span(list, count), std::back_inserter(found.radios), described);
        api.clear_kwargs_list(list, count);
    }
    for (FoundRadio& radio : found.radios) ask(library, radio);
    char** modules = api.list_modules(&count);
    if (modules) {
        found.modules.assign(modules, modules + count);
        api.clear_strings(&modules, count);
    }
    return found;
}

}  // namespace tidemill::io

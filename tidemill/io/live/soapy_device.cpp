#include "tidemill/io/live/soapy_device.hpp"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/internal/soapy_api.hpp"

namespace tidemill::io {

namespace {

using internal::SoapyApi;

std::vector<std::string> taken_strings(const SoapyApi& api, char** strings, std::size_t count) {
    if (!strings) return {};
    std::vector<std::string> taken(strings, strings + count);
    api.clear_strings(&strings, count);
    return taken;
}

std::string taken_string(const SoapyApi& api, char* string) {
    if (!string) return {};
    std::string taken(string);
    api.free(string);
    return taken;
}

std::vector<RadioRange> taken_ranges(const SoapyApi& api, internal::SoapyRange* ranges, std::size_t count) {
    std::vector<RadioRange> taken;
    if (!ranges) return taken;
    for (const auto& range : std::span(ranges, count)) taken.push_back({range.minimum, range.maximum});
    api.free(ranges);
    return taken;
}

std::vector<std::string> taken_keys(const SoapyApi& api, internal::SoapyArgInfo* infos, std::size_t count) {
    std::vector<std::string> taken;
    if (!infos) return taken;
    for (const auto& info : std::span(infos, count)) taken.emplace_back(info.key ? info.key : "");
    api.clear_arg_info_list(infos, count);
    return taken;
}

std::string reason(const SoapyApi& api) {
    const char* const said = api.last_error();
    return said && *said ? said : "it does not say why";
}

}  // namespace

std::string ranges_text(const std::vector<RadioRange>& ranges, double scale) {
    std::string text;
    for (const auto& [least, most] : ranges) {
        if (!text.empty()) text += ", ";
        text += least == most ? fmt::format("{:.10g}", least * scale)
                              : fmt::format("{:.10g} to {:.10g}", least * scale, most * scale);
    }
    return text;
}

SoapyDevice::SoapyDevice(const SoapyLibrary& library, std::string place)
    : place_(std::move(place)), api_(library.api()), handle_(api_.make(place_.c_str())) {
    if (handle_ == nullptr)
        throw IoError(
            fmt::format("no radio '{}' can be opened: {}; `tidemill radio` lists those that are here", place_,
                        reason(api_)));
    direction_ = has(SoapyDirection::receive) ? SoapyDirection::receive : SoapyDirection::send;
}

SoapyDevice::SoapyDevice(const SoapyLibrary& library, std::string place, SoapyDirection direction)
    : SoapyDevice(library, std::move(place)) {
    direction_ = direction;
    if (has(direction)) return;
    throw IoError(fmt::format("the radio '{}' cannot {}", place_,
                              direction == SoapyDirection::send ? "transmit" : "receive"));
}

SoapyDevice::~SoapyDevice() {
    api_.unmake(handle_);
}

bool SoapyDevice::has(SoapyDirection direction) const {
    return api_.channels(handle_, static_cast<int>(direction)) > 0;
}

std::vector<RadioRange> SoapyDevice::rates() const {
    std::size_t count = 0;
    auto* const ranges = api_.rate_range(handle_, direction(), 0, &count);
    return taken_ranges(api_, ranges, count);
}

std::vector<RadioRange> SoapyDevice::frequencies() const {
    std::size_t count = 0;
    auto* const ranges = api_.frequency_range(handle_, direction(), 0, &count);
    return taken_ranges(api_, ranges, count);
}

std::vector<RadioRange> SoapyDevice::bandwidths() const {
    std::size_t count = 0;
    auto* const ranges = api_.bandwidth_range(handle_, direction(), 0, &count);
    return taken_ranges(api_, ranges, count);
}

RadioRange SoapyDevice::gain_db() const {
    const internal::SoapyRange range = api_.gain_range(handle_, direction(), 0);
    return {range.minimum, range.maximum};
}

std::vector<std::string> SoapyDevice::antennas() const {
    std::size_t count = 0;
    auto** const names = api_.antennas(handle_, direction(), 0, &count);
    return taken_strings(api_, names, count);
}

std::vector<std::string> SoapyDevice::formats() const {
    std::size_t count = 0;
    auto** const names = api_.stream_formats(handle_, direction(), 0, &count);
    return taken_strings(api_, names, count);
}

std::string SoapyDevice::native_format() const {
    double full_scale = 0;
    return taken_string(api_, api_.native_format(handle_, direction(), 0, &full_scale));
}

std::vector<std::string> SoapyDevice::settings() const {
    std::size_t count = 0;
    auto* const infos = api_.settings(handle_, &count);
    return taken_keys(api_, infos, count);
}

std::vector<std::string> SoapyDevice::channel_settings() const {
    std::size_t count = 0;
    auto* const infos = api_.channel_settings(handle_, direction(), 0, &count);
    return taken_keys(api_, infos, count);
}

void SoapyDevice::fail(const std::string& what) const {
    throw IoError(fmt::format("the radio '{}' {}: {}", place_, what, reason(api_)));
}

void SoapyDevice::check(int status, const std::string& what) const {
    if (status != 0) fail(what);
}

}  // namespace tidemill::io

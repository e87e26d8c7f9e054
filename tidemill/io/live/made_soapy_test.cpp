// A SoapySDR of this program's own, found like the system's, with one radio that does what a test says.
#include "tidemill/io/testing/made_soapy.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "tidemill/io/live/internal/soapy_api.hpp"

namespace tidemill::io::internal {

MadeSoapy& made_soapy() {
    static MadeSoapy made;
    return made;
}

}  // namespace tidemill::io::internal

using namespace tidemill::io::internal;

namespace {

std::string last_refusal;

int called(const std::string& function, const std::string& with) {
    made_soapy().said.push_back(with.empty() ? function : function + " " + with);
    const auto refused = made_soapy().refusals.find(function);
    if (refused == made_soapy().refusals.end()) return 0;
    last_refusal = refused->second;
    return -1;
}

char* copied(const std::string& text) {
    return strdup(text.c_str());
}

char** strings(const std::vector<std::string>& texts, std::size_t* count) {
    *count = texts.size();
    auto** const list = static_cast<char**>(std::malloc(sizeof(char*) * (texts.size() + 1)));
    std::ranges::transform(texts, list, copied);
    return list;
}

SoapyRange* ranges(const std::vector<SoapyRange>& wanted, std::size_t* count) {
    *count = wanted.size();
    auto* const list = static_cast<SoapyRange*>(std::malloc(sizeof(SoapyRange) * (wanted.size() + 1)));
    std::ranges::copy(wanted, list);
    return list;
}

SoapyArgInfo* infos(const std::vector<std::string>& keys, std::size_t* count) {
    *count = keys.size();
    auto* const list = static_cast<SoapyArgInfo*>(std::calloc(keys.size() + 1, sizeof(SoapyArgInfo)));
    for (std::size_t i = 0; i < keys.size(); ++i) list[i].key = copied(keys[i]);
    return list;
}

char device, stream;

template <class Handle>
Handle* made(char& one, const char* function, const std::string& with, int& count) {
    if (called(function, with) != 0) return nullptr;
    ++count;
    return reinterpret_cast<Handle*>(&one);
}

MadeOutcome next_outcome() {
    MadeSoapy& soapy = made_soapy();
    if (soapy.script.empty()) {
        soapy.at_end();
        return {.status = kSoapyTimeout};
    }
    const MadeOutcome next = soapy.script.front();
    soapy.script.pop_front();
    if (soapy.clock) soapy.clock->wait_ns(next.takes_ns);
    return next;
}

}  // namespace

extern "C" {
const char* SoapySDR_getABIVersion() {
    return made_soapy().abi.c_str();
}
void SoapySDR_setLogLevel(int) {}
const char* SoapySDR_errToStr(int) {
    return "STREAM_ERROR";
}
char** SoapySDR_listModules(std::size_t* count) {
    return strings(made_soapy().modules, count);
}
void SoapySDR_free(void* memory) {
    std::free(memory);
}
void SoapySDRStrings_clear(char*** list, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) std::free((*list)[i]);
    std::free(*list);
    *list = nullptr;
}
void SoapySDRKwargsList_clear(SoapyKwargs* list, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        SoapySDRStrings_clear(&list[i].keys, list[i].size);
        SoapySDRStrings_clear(&list[i].vals, list[i].size);
    }
    std::free(list);
}
void SoapySDRArgInfoList_clear(SoapyArgInfo* list, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) std::free(list[i].key);
    std::free(list);
}
const char* SoapySDRDevice_lastError() {
    return last_refusal.c_str();
}
SoapyKwargs* SoapySDRDevice_enumerateStrArgs(const char*, std::size_t* count) {
    const auto& labels = made_soapy().labels;
    auto* const list = static_cast<SoapyKwargs*>(std::calloc(labels.size() + 1, sizeof(SoapyKwargs)));
    *count = labels.size();
    for (std::size_t i = 0; i < labels.size(); ++i) {
        list[i].keys = strings({"driver", "label"}, &list[i].size);
        list[i].vals = strings({"made", labels[i]}, &list[i].size);
    }
    return list;
}
SoapyHandle* SoapySDRDevice_makeStrArgs(const char* args) {
    made_soapy().at_make();
    return made<SoapyHandle>(device, "make", args, made_soapy().devices);
}
int SoapySDRDevice_unmake(SoapyHandle*) {
    --made_soapy().devices;
    made_soapy().at_unmake();
    return 0;
}
std::size_t SoapySDRDevice_getNumChannels(const SoapyHandle*, int) {
    return 1;
}
char** SoapySDRDevice_getStreamFormats(const SoapyHandle*, int, std::size_t, std::size_t* count) {
    return strings(made_soapy().formats, count);
}
char* SoapySDRDevice_getNativeStreamFormat(const SoapyHandle*, int, std::size_t, double* full_scale) {
    *full_scale = 128;
    return copied(made_soapy().native);
}
char** SoapySDRDevice_listAntennas(const SoapyHandle*, int, std::size_t, std::size_t* count) {
    return strings({"RX", "LNA"}, count);
}
int SoapySDRDevice_setAntenna(SoapyHandle*, int, std::size_t, const char* name) {
    return called("antenna", name);
}
bool SoapySDRDevice_hasGainMode(const SoapyHandle*, int, std::size_t) {
    return true;
}
int SoapySDRDevice_setGainMode(SoapyHandle*, int, std::size_t, bool automatic) {
    return called("gain_mode", automatic ? "automatic" : "by hand");
}
SoapyRange SoapySDRDevice_getGainRange(const SoapyHandle*, int, std::size_t) {
    return {-10, 49.6, 0};
}
int SoapySDRDevice_setGain(SoapyHandle*, int, std::size_t, double db) {
    return called("gain", fmt::format("{}", db));
}
SoapyRange* SoapySDRDevice_getFrequencyRange(const SoapyHandle*, int, std::size_t, std::size_t* count) {
    return ranges({{24e6, 1764e6, 0}}, count);
}
int SoapySDRDevice_setFrequency(SoapyHandle*, int, std::size_t, double hz, const SoapyKwargs*) {
    return called("frequency", fmt::format("{:.0f}", hz));
}
bool SoapySDRDevice_hasFrequencyCorrection(const SoapyHandle*, int, std::size_t) {
    return made_soapy().corrects_frequency;
}
int SoapySDRDevice_setFrequencyCorrection(SoapyHandle*, int, std::size_t, double ppm) {
    return called("correction", fmt::format("{}", ppm));
}
SoapyRange* SoapySDRDevice_getSampleRateRange(const SoapyHandle*, int, std::size_t, std::size_t* count) {
    return ranges({{225001, 300000, 0}, {900001, 3200000, 0}}, count);
}
int SoapySDRDevice_setSampleRate(SoapyHandle*, int, std::size_t, double hz) {
    made_soapy().rate_hz = made_soapy().rate_given_hz > 0 ? made_soapy().rate_given_hz : hz;
    return called("rate", fmt::format("{:.0f}", hz));
}
double SoapySDRDevice_getSampleRate(const SoapyHandle*, int, std::size_t) {
    return made_soapy().rate_hz;
}
SoapyRange* SoapySDRDevice_getBandwidthRange(const SoapyHandle*, int, std::size_t, std::size_t* count) {
    return ranges({{0, 2e6, 0}}, count);
}
int SoapySDRDevice_setBandwidth(SoapyHandle*, int, std::size_t, double hz) {
    return called("bandwidth", fmt::format("{:.0f}", hz));
}
SoapyArgInfo* SoapySDRDevice_getChannelSettingInfo(const SoapyHandle*, int, std::size_t, std::size_t* count) {
    return infos({"lna_mode"}, count);
}
int SoapySDRDevice_writeChannelSetting(SoapyHandle*, int, std::size_t, const char* key, const char* value) {
    return called("channel_setting", fmt::format("{}={}", key, value));
}
SoapyArgInfo* SoapySDRDevice_getSettingInfo(const SoapyHandle*, std::size_t* count) {
    return infos(made_soapy().keys, count);
}
int SoapySDRDevice_writeSetting(SoapyHandle*, const char* key, const char* value) {
    return called("setting", fmt::format("{}={}", key, value));
}
SoapyStreamHandle* SoapySDRDevice_setupStream(SoapyHandle*, int, const char* format, const std::size_t*,
                                              std::size_t, const SoapyKwargs*) {
    return made<SoapyStreamHandle>(stream, "stream", format, made_soapy().streams);
}
int SoapySDRDevice_closeStream(SoapyHandle*, SoapyStreamHandle*) {
    last_refusal.clear();
    --made_soapy().streams;
    return 0;
}
int SoapySDRDevice_activateStream(SoapyHandle*, SoapyStreamHandle*, int, long long, std::size_t) {
    return called("activate", "");
}
int SoapySDRDevice_deactivateStream(SoapyHandle*, SoapyStreamHandle*, int, long long) {
    return 0;
}
int SoapySDRDevice_readStream(SoapyHandle*, SoapyStreamHandle*, void* const* buffers, std::size_t samples,
                              int* flags, long long* time_ns, long) {
    const MadeOutcome next = next_outcome();
    if (next.status <= 0) return next.status;
    const std::size_t count = std::min<std::size_t>(samples, static_cast<std::size_t>(next.status));
    std::memset(buffers[0], next.value, 2 * count);
    *flags = next.time_ns >= 0 ? kSoapyHasTime : 0;
    *time_ns = next.time_ns;
    return static_cast<int>(count);
}
int SoapySDRDevice_writeStream(SoapyHandle*, SoapyStreamHandle*, const void* const* buffers,
                               std::size_t samples, int* flags, long long, long) {
    const MadeOutcome next = next_outcome();
    if (next.status <= 0) return next.status;
    const std::size_t count = std::min<std::size_t>(samples, static_cast<std::size_t>(next.status));
    const auto* const from = static_cast<const std::int8_t*>(buffers[0]);
    made_soapy().sent.insert(made_soapy().sent.end(), from, from + 2 * count);
    if (*flags & kSoapyEndBurst) made_soapy().said.emplace_back("end of burst");
    return static_cast<int>(count);
}
int SoapySDRDevice_readStreamStatus(SoapyHandle*, SoapyStreamHandle*, std::size_t*, int*, long long*, long) {
    return kSoapyTimeout;
}
}

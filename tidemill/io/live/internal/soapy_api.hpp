#pragma once

#include <cstddef>

namespace tidemill::io::internal {

// The part of SoapySDR's C interface that is used, in its version 0.8, as the library has it: so no program
// need be built where its headers are, to find the library where it runs.

struct SoapyRange {
    double minimum, maximum, step;
};

struct SoapyKwargs {
    std::size_t size;
    char** keys;
    char** vals;
};

struct SoapyArgInfo {
    char *key, *value, *name, *description, *units;
    int type;
    SoapyRange range;
    std::size_t options;
    char** option_values;
    char** option_names;
};

struct SoapyHandle;        // of a device
struct SoapyStreamHandle;  // of a stream

constexpr int kSoapySend = 0, kSoapyReceive = 1;
constexpr int kSoapyEndBurst = 1 << 1, kSoapyHasTime = 1 << 2;
constexpr int kSoapyTimeout = -1, kSoapyCorruption = -3, kSoapyOverflow = -4, kSoapyTimeError = -6,
              kSoapyUnderflow = -7;
constexpr int kSoapyLogErrors = 3;

// Functions of a channel: the device, the direction and the channel come first.
template <class Result, class... Arguments>
using SoapyOfChannel = Result(const SoapyHandle*, int direction, std::size_t channel, Arguments...);
template <class... Arguments>
using SoapySet = int(SoapyHandle*, int direction, std::size_t channel, Arguments...);

struct SoapyApi {
    const char* (*abi_version)();
    void (*set_log_level)(int level);
    const char* (*error_text)(int status);
    const char* (*last_error)();
    char** (*list_modules)(std::size_t* count);

    void (*free)(void*);
    void (*clear_strings)(char*** strings, std::size_t count);
    void (*clear_kwargs_list)(SoapyKwargs* list, std::size_t count);
    void (*clear_arg_info_list)(SoapyArgInfo* list, std::size_t count);

    SoapyKwargs* (*enumerate)(const char* args, std::size_t* count);
    SoapyHandle* (*make)(const char* args);
    int (*unmake)(SoapyHandle*);
    std::size_t (*channels)(const SoapyHandle*, int direction);

    SoapyOfChannel<char**, std::size_t*>* stream_formats;
    SoapyOfChannel<char*, double*>* native_format;
    SoapyOfChannel<char**, std::size_t*>* antennas;
    SoapySet<const char*>* set_antenna;
    SoapyOfChannel<bool>* has_gain_mode;
    SoapySet<bool>* set_gain_mode;
    SoapyOfChannel<SoapyRange>* gain_range;
    SoapySet<double>* set_gain;
    SoapyOfChannel<SoapyRange*, std::size_t*>* frequency_range;
    SoapySet<double, const SoapyKwargs*>* set_frequency;
    SoapyOfChannel<bool>* has_frequency_correction;
    SoapySet<double>* set_frequency_correction;
    SoapyOfChannel<SoapyRange*, std::size_t*>* rate_range;
    SoapySet<double>* set_rate;
    SoapyOfChannel<double>* rate;
    SoapyOfChannel<SoapyRange*, std::size_t*>* bandwidth_range;
    SoapySet<double>* set_bandwidth;
    SoapyOfChannel<SoapyArgInfo*, std::size_t*>* channel_settings;
    SoapySet<const char*, const char*>* write_channel_setting;
    SoapyArgInfo* (*settings)(const SoapyHandle*, std::size_t* count);
    int (*write_setting)(SoapyHandle*, const char* key, const char* value);

    SoapyStreamHandle* (*set_up_stream)(SoapyHandle*, int direction, const char* format,
                                        const std::size_t* channels, std::size_t channel_count,
                                        const SoapyKwargs* args);
    int (*close_stream)(SoapyHandle*, SoapyStreamHandle*);
    int (*activate)(SoapyHandle*, SoapyStreamHandle*, int flags, long long time_ns, std::size_t samples);
    int (*deactivate)(SoapyHandle*, SoapyStreamHandle*, int flags, long long time_ns);
    int (*read)(SoapyHandle*, SoapyStreamHandle*, void* const* buffers, std::size_t samples, int* flags,
                long long* time_ns, long timeout_us);
    int (*write)(SoapyHandle*, SoapyStreamHandle*, const void* const* buffers, std::size_t samples,
                 int* flags, long long time_ns, long timeout_us);
    int (*read_status)(SoapyHandle*, SoapyStreamHandle*, std::size_t* channel_mask, int* flags,
                       long long* time_ns, long timeout_us);
};

}  // namespace tidemill::io::internal

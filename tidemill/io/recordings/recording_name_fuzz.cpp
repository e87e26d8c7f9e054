#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tidemill/io/recordings/recording_name.hpp"

/// Any name gives valid rates and frequencies, or none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto told = tidemill::io::read_recording_name({reinterpret_cast<const char*>(data), size});
    for (const auto& value : {told.sample_rate_hz, told.center_frequency_hz})
        if (value && !(*value >= 1 && *value < 1e19)) std::abort();
    return 0;
}

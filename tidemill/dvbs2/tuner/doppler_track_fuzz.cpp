#include <cmath>
#include <cstdlib>
#include <string_view>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/tuner/doppler_track.hpp"

// For any track, a place in it is a number or it is refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill::dvbs2;
    try {
        const DopplerTrack track = parse_doppler_track({reinterpret_cast<const char*>(data), size});
        for (const double time_s : {-1e300, -1.0, 0.0, 0.5, 1.0, 1e3, 1e300}) {
            if (std::isnan(track.hz_at(time_s))) std::abort();
        }
    } catch (const Dvbs2Error&) {
    }
    return 0;
}

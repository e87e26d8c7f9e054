#include "tidemill/dvbs2/device/device_ldpc_times.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

namespace tidemill::dvbs2 {

namespace {

double core_us() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

}  // namespace

BatchTimes times_in_flight(DeviceLdpcCodes& codes, std::span<const LdpcFrame> frames, int runs) {
    using Clock = std::chrono::steady_clock;
    const std::size_t places = codes.places();
    const auto share = 1 / static_cast<double>(places);
    for (std::size_t place = 0; place < places; ++place) codes.begin(place, frames);
    std::vector<double> batch, core;
    // Once through all places: a thread that comes late finds several done. The first time does not count:
    // those came together, and made what is made at first need.
    for (int run = -1; run < runs; ++run) {
        const auto before = Clock::now();
        const double core_before_us = core_us();
        for (std::size_t place = 0; place < places; ++place) {
            codes.end(place);
            codes.begin(place, frames);
        }
        if (run < 0) continue;
        batch.push_back(share * std::chrono::duration<double, std::micro>(Clock::now() - before).count());
        core.push_back(share * (core_us() - core_before_us));
    }
    for (std::size_t place = 0; place < places; ++place) codes.end(place);
    return {static_cast<double>(frames.size()), median(batch), median(core)};
}

}  // namespace tidemill::dvbs2

#include "tidemill/gpu/ldpc/device_ldpc_times.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "tidemill/base/quantile.hpp"

namespace tidemill::dvbs2 {

namespace {

double core_us() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

// A device that hangs is found out by the end of the batch.
void await(DeviceLdpcCodes& codes, std::size_t place) {
    const auto limit = std::chrono::steady_clock::now() + codes.patience();
    while (!codes.is_done(place) && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
}

// The first time does not count: it makes what is made at first need.
void add_times_alone(DeviceLdpcCodes& codes, std::span<const LdpcFrame> frames, int runs, BatchTimes& times) {
    std::vector<double> copies, kernel;
    for (int run = -1; run < runs; ++run) {
        codes.begin(0, frames);
        codes.end(0);
        if (run < 0) continue;
        const DeviceBatchTimes own = codes.times(0);
        copies.push_back(own.to_device_us + own.to_host_us);
        kernel.push_back(own.kernel_us);
    }
    times.copies_us = median(copies);
    times.kernel_us = median(kernel);
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
        double busy_us = 0;
        for (std::size_t place = 0; place < places; ++place) {
            await(codes, place);
            const double core_before_us = core_us();  // a poll, since the host has other work
            codes.end(place);
            codes.begin(place, frames);
            busy_us += core_us() - core_before_us;
        }
        if (run < 0) continue;
        batch.push_back(share * std::chrono::duration<double, std::micro>(Clock::now() - before).count());
        core.push_back(share * busy_us);
    }
    for (std::size_t place = 0; place < places; ++place) codes.end(place);
    BatchTimes times{static_cast<double>(frames.size()), median(batch), median(core)};
    add_times_alone(codes, frames, runs, times);
    return times;
}

}  // namespace tidemill::dvbs2

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/ber/ber_full.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr int kStartsPerModcod = 8;  // about 200 for each frame size

BerPoint point_of(const Modcod& modcod, FrameSize size, bool pilots, std::uint64_t frames) {
    BerPoint point{.pls = {modcod.number, size, pilots}, .esn0_db = modcod.esn0_threshold_db + 1.0};
    point.full_sync =
        FullSync{.frequency_cycles_per_symbol = 0.1, .clock_offset_ppm = 100, .frames_per_burst = frames};
    return point;
}

// Frames heard until the first good one comes out, over random starts of all MODCODs, in order; infinite
// where none came.
std::vector<double> frames_to_lock(FrameSize size, bool pilots, std::uint64_t frames) {
    std::mt19937_64 random(17);
    std::vector<double> waits;
    for (const Modcod& modcod : all_modcods()) {
        const BerPoint point = point_of(modcod, size, pilots, frames);
        if (!point.pls.is_defined()) continue;
        const auto symbols = static_cast<std::uint64_t>(layout_of(point.pls).symbols);
        for (std::uint64_t start = 0; start < kStartsPerModcod; ++start) {
            const auto samples = receive_burst(point, start, random() % symbols).samples_to_lock;
            waits.push_back(samples > 0 ? static_cast<double>(samples) / 2 / static_cast<double>(symbols)
                                        : std::numeric_limits<double>::infinity());
        }
    }
    std::ranges::sort(waits);
    return waits;
}

double percentile(const std::vector<double>& sorted, double part) {
    return sorted[static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size()))) - 1];
}

void check_lock(FrameSize size, std::uint64_t frames, double most_frames) {
    const auto waits = frames_to_lock(size, true, frames);
    MESSAGE(waits.size(), " starts, ", name(size), " frames: median ", percentile(waits, 0.5), ", 95 % ",
            percentile(waits, 0.95), ", longest ", waits.back());
    CHECK(percentile(waits, 0.95) <= most_frames);
    CHECK(std::isfinite(waits.back()));
}

}  // namespace

TEST_CASE("lock: 95 % of random starts, a decibel over the threshold, give a frame within six normal ones") {
    check_lock(FrameSize::normal, 12, 6);
}

TEST_CASE(
    "lock: 95 % of random starts, a decibel over the threshold, give a frame within twenty short ones") {
    check_lock(FrameSize::short_, 40, 20);
}

}  // namespace tidemill::dvbs2

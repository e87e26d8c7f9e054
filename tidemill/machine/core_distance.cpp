#include "tidemill/machine/core_distance.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>

#include "tidemill/machine/affinity.hpp"
#include "tidemill/machine/relax.hpp"
#include "tidemill/machine/start_thread.hpp"

namespace tidemill {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeastSecondsOfPair = 0.0004;  // with two threads that come and go
constexpr int kBursts = 5;                      // of which the shortest counts: what disturbs makes it longer
constexpr int kTrips = 100;

constexpr std::size_t kLineBytes = 64;

/// A word that two threads hand to each other, in a cache line of its own, and what goes with it.
struct alignas(kLineBytes) Ball {
    struct alignas(kLineBytes) Line {
        std::uint64_t changes = 0;
    };

    explicit Ball(std::size_t bytes) : lines((bytes + kLineBytes - 1) / kLineBytes) {}

    std::atomic<int> at{0};
    std::vector<Line> lines;
};

// A turn is a trip there and back. Gives up once the time is over: the other one may wait for its core.
bool take_turns(Ball& ball, int side, int trips, Clock::time_point end) {
    for (int trip = 0; trip < trips; ++trip) {
        for (int spin = 0; ball.at.load(std::memory_order_acquire) != side; ++spin) {
            if (spin % 1024 == 1023 && Clock::now() > end) return false;
            relax();
        }
        for (Ball::Line& line : ball.lines) ++line.changes;
        ball.at.store(1 - side, std::memory_order_release);  // pairs with the other side's acquire
    }
    return true;
}

std::optional<double> trip_ns(const PuSet& here, const PuSet& there, std::size_t bytes,
                              Clock::time_point end) {
    Ball ball(bytes);
    std::atomic<bool> is_pinned{true};
    const std::jthread other = start_thread([&] {
        if (pin_this_thread(there)) is_pinned = false;
        take_turns(ball, 1, kBursts * kTrips, end);
    });
    const PinGuard pinned(here);
    std::optional<double> least_ns;
    for (int burst = 0; burst < kBursts; ++burst) {
        const Clock::time_point start = Clock::now();
        if (!take_turns(ball, 0, kTrips, end)) break;
        const std::chrono::duration<double, std::nano> took = Clock::now() - start;
        least_ns = std::min(least_ns.value_or(took.count() / kTrips), took.count() / kTrips);
    }
    if (pinned.error() || !is_pinned) return std::nullopt;
    return least_ns;
}

/// Round trips of all pairs.
struct Trips {
    double nearest = std::numeric_limits<double>::infinity();
    double farthest = 0;
};

Trips trips_of(const CoreDistances& distances) {
    Trips trips;
    for (std::size_t a = 0; a < distances.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            trips.nearest = std::min(trips.nearest, distances[a][b]);
            trips.farthest = std::max(trips.farthest, distances[a][b]);
        }
    }
    return trips;
}

}  // namespace

CoreDistances core_distances(const Topology& topology, std::span<const std::size_t> cores, double seconds,
                             std::size_t bytes) {
    const std::size_t pairs = cores.size() * (cores.size() - 1) / 2;
    if (cores.size() < 2 || static_cast<double>(pairs) * kLeastSecondsOfPair > seconds) return {};
    const auto share = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(seconds / static_cast<double>(pairs)));
    CoreDistances distances(cores.size(), std::vector<double>(cores.size(), 0.0));
    for (std::size_t a = 0; a < cores.size(); ++a) {
        for (std::size_t b = a + 1; b < cores.size(); ++b) {
            const auto ns = trip_ns(topology.cores[cores[a]].pus, topology.cores[cores[b]].pus, bytes,
                                    Clock::now() + share);
            if (!ns) return {};
            distances[a][b] = distances[b][a] = *ns;
        }
    }
    return distances;
}

bool some_are_far(const CoreDistances& distances, double factor) {
    const Trips trips = trips_of(distances);
    return trips.farthest > factor * trips.nearest;
}

std::vector<std::size_t> row_of_near(const CoreDistances& distances) {
    std::vector<std::size_t> row;
    std::vector<std::size_t> left(distances.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
    for (auto next = left.begin(); next != left.end();) {
        row.push_back(*next);
        left.erase(next);
        const std::vector<double>& from = distances[row.back()];
        next = std::ranges::min_element(left, {}, [&](std::size_t core) { return from[core]; });
    }
    return row;
}

std::vector<std::vector<std::size_t>> near_groups(const CoreDistances& distances, double factor) {
    const double most = factor * trips_of(distances).nearest;
    std::vector<std::vector<std::size_t>> groups;
    std::vector<std::size_t> left = row_of_near(distances);
    while (!left.empty()) {
        std::vector<std::size_t>& group = groups.emplace_back(1, left.front());
        left.erase(left.begin());
        for (auto next = left.begin(); next != left.end();) {
            const auto is_near = [&](std::size_t core) { return distances[core][*next] <= most; };
            if (std::ranges::none_of(group, is_near)) {
                ++next;
                continue;
            }
            group.push_back(*next);
            left.erase(next);
            next = left.begin();
        }
    }
    return groups;
}

}  // namespace tidemill

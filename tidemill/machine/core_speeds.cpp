#include "tidemill/machine/core_speeds.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/affinity.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill {

namespace {

/// Index of the next load; a line for itself, so that each load misses.
struct alignas(64) Line {
    std::uint32_t next = 0;
};

/// Lines in one random circle, twice as many bytes as the largest cache has.
class LoadChain {
  public:
    explicit LoadChain(const Topology& topology) {
        constexpr std::size_t kLeast = std::size_t{32} << 20;
        constexpr std::size_t kMost = std::size_t{256} << 20;
        std::size_t largest = 0;
        for (const Cache& cache : topology.caches) largest = std::max(largest, cache.size_bytes);
        std::vector<std::uint32_t> order(std::clamp(2 * largest, kLeast, kMost) / sizeof(Line));
        std::iota(order.begin(), order.end(), 0);
        std::ranges::shuffle(order, std::minstd_rand(1));
        lines_.resize(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) lines_[order[i]].next = order[(i + 1) % order.size()];
    }

    void follow(int loads) {
        std::uint32_t at = at_;
        for (int i = 0; i < loads; ++i) at = lines_[at].next;
        at_ = at;
    }

  private:
    std::vector<Line> lines_;
    volatile std::uint32_t at_ = 0;
};

// Four sums side by side: a wide core does them at once, a narrow one does not.
void compute(int steps) {
    static volatile std::uint64_t result = 1;
    std::array<std::uint64_t, 4> sums{result, 2, 3, 4};
    for (int i = 0; i < steps; ++i)
        for (std::uint64_t& sum : sums) sum = sum * 6364136223846793005U + (sum >> 29);
    result = std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

// Processor time of this thread: time that others take of the core does not count.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename Work>
double per_second(double seconds, int steps, Work work) {
    const double begin = processor_seconds();
    double done = 0;
    double spent = 0;
    while (spent < seconds) {
        work(steps);
        done += steps;
        spent = processor_seconds() - begin;
    }
    return done / spent;
}

double best_of(std::vector<double>& speeds, double& spread) {
    std::ranges::sort(speeds, std::greater{});
    spread = std::max(spread, 1 - speeds[2] / speeds[0]);
    return speeds[0];
}

}  // namespace

MeasureCore core_probe(const Topology& topology, double seconds) {
    const auto chain = std::make_shared<LoadChain>(topology);
    return [chain, seconds](const Core& core) {
        const PinGuard pinned(std::span(core.pus).first(1));
        if (pinned.error())
            throw PlatformError(
                fmt::format("core{} cannot be measured: {}", core.number, pinned.error()->reason));
        compute(100'000);  // to wake the core
        return CoreSpeed{per_second(seconds, 10'000, compute),
                         per_second(seconds, 200, [&](int loads) { chain->follow(loads); })};
    };
}

std::vector<MeasuredCore> measure_cores(const Topology& topology, const MeasureCore& measure, int rounds) {
    std::vector<std::vector<double>> compute(topology.cores.size());
    std::vector<std::vector<double>> memory(topology.cores.size());
    for (int round = 0; round < std::max(3, rounds); ++round) {
        for (std::size_t core = 0; core < topology.cores.size(); ++core) {
            const CoreSpeed speed = measure(topology.cores[core]);
            compute[core].push_back(speed.compute);
            memory[core].push_back(speed.memory);
        }
    }
    std::vector<MeasuredCore> measured(topology.cores.size());
    for (std::size_t core = 0; core < measured.size(); ++core) {
        measured[core].best.compute = best_of(compute[core], measured[core].spread);
        measured[core].best.memory = best_of(memory[core], measured[core].spread);
    }
    return measured;
}

}  // namespace tidemill

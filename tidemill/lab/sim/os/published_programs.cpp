#include "tidemill/lab/sim/os/published_programs.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "tidemill/lab/sim/published.hpp"
#include "tidemill/lab/sim/sim_error.hpp"

namespace tidemill::os {

namespace {

constexpr double kAlternation_s = 0.25;

struct Range {
    double from;
    double to;
};

// Draws what nobody published.
class Draws {
  public:
    Draws(const Ratios& ratios, std::uint64_t seed) : ratios_(ratios), random_(seed) {}

    // With a ratio between these shares of their range.
    Phase phase(double work_s, Range share) {
        const double ratio = std::lerp(ratios_.least, ratios_.most, std::lerp(share.from, share.to, unit()));
        Phase phase{.work_s = work_s};
        do {
            phase.pipeline = std::pow(ratios_.pipelines, 2 * unit() - 1);
            phase.core_bound = (ratio - 1) / (ratios_.most * phase.pipeline - 1);
        } while (phase.core_bound > 1);
        return phase;
    }
    double work_s(Range range) {
        return std::exp(std::lerp(std::log(range.from), std::log(range.to), unit()));
    }

  private:
    double unit() { return unit_(random_); }

    Ratios ratios_;
    std::mt19937_64 random_;
    std::uniform_real_distribution<double> unit_;
};

constexpr Range kAny{0, 1};
constexpr Range kMemory{0, 1.0 / 3};
constexpr Range kCompute{2.0 / 3, 1};

Range length_of(std::string_view length) {
    if (length == "short") return {0.1, 0.5};
    return length == "long" ? Range{5, 20} : Range{0.3, 6};
}

Program alternating(const std::string& name, double work_s, Draws& draws) {
    const double rounds = std::max(1.0, std::round(work_s / (2 * kAlternation_s)));
    return {.name = name,
            .phases = {draws.phase(kAlternation_s, kCompute), draws.phase(kAlternation_s, kMemory)},
            .rounds = static_cast<std::size_t>(rounds)};
}

Program drawn(const PublishedRow& row, Draws& draws) {
    const std::string& behaviour = row.text("behaviour");
    const double work_s = draws.work_s(length_of(row.text("length")));
    if (behaviour == "alternating") return alternating(row.text("program"), work_s, draws);
    const Range share = behaviour == "compute" ? kCompute : behaviour == "memory" ? kMemory : kAny;
    return {.name = row.text("program"), .phases = {draws.phase(work_s, share)}};
}

std::vector<Program> drawn(std::size_t count, Range behaviour, const Ratios& ratios, std::uint64_t seed) {
    Draws draws(ratios, seed);
    std::vector<Program> programs;
    for (std::size_t i = 0; i < count; ++i) {
        programs.push_back({.name = fmt::format("program {}", i),
                            .phases = {draws.phase(draws.work_s(length_of("")), behaviour)}});
    }
    return programs;
}

}  // namespace

std::vector<Program> published_programs(std::string_view workload, const Ratios& ratios, std::uint64_t seed) {
    Draws draws(ratios, seed);
    std::vector<Program> programs;
    for (const PublishedRow& row : published_table("sbridge_programs")) {
        if (row.text("workload") == workload) programs.push_back(drawn(row, draws));
    }
    if (programs.empty()) throw SimError(fmt::format("there is no published workload '{}'", workload));
    return programs;
}

std::vector<Program> drawn_programs(std::size_t count, const Ratios& ratios, std::uint64_t seed) {
    return drawn(count, kAny, ratios, seed);
}

std::vector<Program> memory_bound_programs(std::size_t count, const Ratios& ratios, std::uint64_t seed) {
    return drawn(count, kMemory, ratios, seed);
}

}  // namespace tidemill::os

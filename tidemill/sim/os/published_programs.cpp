#include "tidemill/sim/os/published_programs.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "tidemill/sim/published.hpp"
#include "tidemill/sim/sim_error.hpp"

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

    // Of the ratios between these shares of their range.
    double core_bound(Range share) {
        const double at = std::lerp(share.from, share.to, unit_(random_));
        return ratios_.core_bound(std::lerp(ratios_.least, ratios_.most, at));
    }
    double work_s(Range range) {
        return std::exp(std::lerp(std::log(range.from), std::log(range.to), unit_(random_)));
    }

  private:
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
    return {
        .name = name,
        .phases = {{kAlternation_s, draws.core_bound(kCompute)}, {kAlternation_s, draws.core_bound(kMemory)}},
        .rounds = static_cast<std::size_t>(rounds)};
}

Program drawn(const PublishedRow& row, Draws& draws) {
    const std::string& behaviour = row.text("behaviour");
    const double work_s = draws.work_s(length_of(row.text("length")));
    if (behaviour == "alternating") return alternating(row.text("program"), work_s, draws);
    const Range share = behaviour == "compute" ? kCompute : behaviour == "memory" ? kMemory : kAny;
    return {.name = row.text("program"), .phases = {{work_s, draws.core_bound(share)}}};
}

std::vector<Program> drawn(std::size_t count, Range behaviour, const Ratios& ratios, std::uint64_t seed) {
    Draws draws(ratios, seed);
    std::vector<Program> programs;
    for (std::size_t i = 0; i < count; ++i) {
        programs.push_back({.name = fmt::format("program {}", i),
                            .phases = {{draws.work_s(length_of("")), draws.core_bound(behaviour)}}});
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

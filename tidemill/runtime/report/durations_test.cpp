#include "tidemill/runtime/report/durations.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

using namespace tidemill;

namespace {

Durations durations_of(const std::vector<std::uint64_t>& values) {
    Durations durations;
    for (const std::uint64_t value : values) durations.add(value);
    return durations;
}

// The smallest value that a share of all do not exceed.
double exact_quantile(std::vector<std::uint64_t> values, double share) {
    const double rank = std::max(1.0, std::ceil(share * static_cast<double>(values.size())));
    std::sort(values.begin(), values.end());
    return static_cast<double>(values[static_cast<std::size_t>(rank) - 1]);
}

}  // namespace

TEST_CASE("percentiles lie within 1/32 of the exact ones, whatever the durations") {
    CHECK(rc::check([] {
        const int octaves = *rc::gen::inRange(0, 40);
        auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint64_t>>(
            rc::gen::inRange<std::uint64_t>(0, (std::uint64_t{1} << octaves) + 1)));
        for (std::uint64_t& value : values) value = std::min(value, (std::uint64_t{1} << 40) - 1);
        const Durations durations = durations_of(values);
        for (const double share : {0.0, 0.1, 0.5, 0.9, 0.99, 1.0}) {
            const double exact = exact_quantile(values, share);
            RC_ASSERT(std::abs(durations.quantile(share) - exact) <= exact / 32);
        }
        RC_ASSERT(durations.count() == values.size());
        RC_ASSERT(durations.most() == *std::max_element(values.begin(), values.end()));
        RC_ASSERT(durations.least() == *std::min_element(values.begin(), values.end()));
    }));
}

TEST_CASE("durations of several threads added up are those of one that saw them all") {
    std::mt19937_64 random(7);
    std::vector<std::uint64_t> all(3000);
    for (std::uint64_t& value : all) value = random() >> (24 + random() % 40);
    Durations sum;
    sum.add(durations_of({all.begin(), all.begin() + 1000}));
    sum.add(durations_of({all.begin() + 1000, all.end()}));
    sum.add(Durations{});
    const Durations expected = durations_of(all);
    CHECK(sum.count() == 3000);
    CHECK(sum.sum() == expected.sum());
    CHECK(sum.least() == expected.least());
    CHECK(sum.most() == expected.most());
    for (const double share : {0.01, 0.5, 0.99}) CHECK(sum.quantile(share) == expected.quantile(share));
}

TEST_CASE("equal durations are told exactly, and very long ones are not lost") {
    const Durations equal = durations_of({1000003, 1000003, 1000003});
    CHECK(equal.quantile(0.5) == 1000003);
    const std::uint64_t day = std::uint64_t{1} << 48;
    const Durations mixed = durations_of({day, 5});
    CHECK(mixed.count() == 2);
    CHECK(mixed.most() == day);
    CHECK(mixed.quantile(0.5) == 5);
}

TEST_CASE("no durations report as zeros") {
    const DurationReport nothing = report_of(Durations{});
    CHECK(nothing.count == 0);
    CHECK(nothing.mean_us == 0);
    CHECK(nothing.least_us == 0);
    CHECK(nothing.p50_us == 0);
}

TEST_CASE("a report orders least, percentiles and most") {
    Durations durations;
    for (std::uint64_t i = 1; i <= 1000; ++i) durations.add(i * 100);
    const DurationReport report = report_of(durations);
    CHECK(report.count == 1000);
    CHECK(report.least_us < report.p50_us);
    CHECK(report.p50_us < report.p90_us);
    CHECK(report.p90_us < report.p99_us);
    CHECK(report.p99_us <= report.most_us);
    CHECK(report.p90_us / report.p50_us == doctest::Approx(900.0 / 500).epsilon(1.0 / 16));
    CHECK(report.mean_us * 1000 == doctest::Approx(report.total_us));
}

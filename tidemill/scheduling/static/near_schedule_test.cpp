#include "tidemill/scheduling/static/near_schedule.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/scheduling/static/cluster_placement.hpp"
#include "tidemill/scheduling/static/herad.hpp"

namespace tidemill {
namespace {

using Random = std::mt19937_64;

int any_of(Random& random, int least, int most) {
    return std::uniform_int_distribution(least, most)(random);
}

const Strategy& herad_strategy() {
    return strategy("herad");
}

Chain chain_of(const std::vector<double>& weights_us) {
    Chain chain{.kinds = {"big"}, .tasks = {}};
    for (const double us : weights_us)
        chain.tasks.push_back({fmt::format("t{}", chain.tasks.size() + 1), false, {us}});
    return chain;
}

/// A chain of up to five tasks, and up to five cores in clusters, with far cuts that cost up to as much as a
/// task.
struct Made {
    Chain chain{.kinds = {"big"}, .tasks = {}};
    CostModel model{};
    int cores = 0;
};

Made any_problem(Random& random) {
    Made made;
    for (int left = any_of(random, 2, 5); left > 0; --left) {
        made.chain.tasks.push_back(
            {fmt::format("t{}", left), any_of(random, 0, 1) == 0, {double(any_of(random, 1, 20))}});
        made.chain.tasks.back().bytes_after = any_of(random, 0, 4) * 100;
    }
    FarCuts far{
        .kind = "big", .hop_us = double(any_of(random, 1, 10)), .byte_us = any_of(random, 0, 1) * 0.01};
    while (made.cores < 3 || far.clusters.size() < 2) {
        std::vector<int>& cluster = far.clusters.emplace_back();
        for (int left = any_of(random, 1, 3); left > 0; --left) cluster.push_back(made.cores++);
    }
    made.model.far_cuts = {far};
    made.model = with_bytes_of(made.chain, made.model);
    return made;
}

/// The least period of every schedule in stages, its threads placed at best.
double least_of_all(const Made& made, Schedule& begun, int cores_left) {
    const std::size_t first = begun.task_count();
    if (first == made.chain.tasks.size()) {
        Schedule placed = begun;
        place_in_clusters(placed, made.chain, made.model);
        return period_us(placed, made.chain, made.model);
    }
    double least = std::numeric_limits<double>::infinity();
    bool replicable = true;
    for (std::size_t count = 1; first + count <= made.chain.tasks.size(); ++count) {
        replicable = replicable && made.chain.tasks[first + count - 1].replicable;
        for (int threads = 1; threads <= (replicable ? cores_left : std::min(cores_left, 1)); ++threads) {
            begun.stages.push_back({first, count, threads, "big"});
            least = std::min(least, least_of_all(made, begun, cores_left - threads));
            begun.stages.pop_back();
        }
    }
    return least;
}

}  // namespace

TEST_CASE("near schedules: where all cores are near, a schedule is the strategy's") {
    const Chain chain = chain_of({5, 7, 3});
    CHECK(near_schedule(herad_strategy(), chain, {.big = 2}, {}, {}) == herad(chain, {.big = 2}));
}

TEST_CASE("near schedules: one cluster is enough where crossing to another gains nothing") {
    const auto where_far_costs = [](double hop_us) {
        const CostModel model{.far_cuts = {{"big", {{0, 2}, {1, 3}}, hop_us, 0}}};
        return near_schedule(herad_strategy(), chain_of({6, 6, 6, 6}), {.big = 4}, {}, model);
    };
    CHECK(where_far_costs(4).thread_count() == 4);
    CHECK(where_far_costs(4).period_us == 10);
    CHECK(where_far_costs(7).thread_count() == 2);  // on four cores it takes 13
    CHECK(where_far_costs(7).period_us == 12);
    CHECK(where_far_costs(6).thread_count() == 2);
}

TEST_CASE("near schedules: a wanted rate is met as the strategy does, and its threads are placed") {
    const CostModel model{.far_cuts = {{"big", {{0, 2}, {1, 3}}, 4, 0}}};
    const Chain chain = chain_of({6, 6, 6, 6});
    const Schedule schedule =
        near_schedule(herad_strategy(), chain, {.big = 4}, {.wanted_period_us = 30}, model);
    CHECK(schedule.stages.size() == 1);
    CHECK(schedule.resources.size() == 1);
}

TEST_CASE("near schedules: costs of cuts whose sums are no exact decimals do") {
    CostModel model{.hop_us = 0.1, .far_cuts = {{"big", {{0, 2}, {1, 3}}, 0.2, 0.000007}}};
    model.byte_us = 0.000001;
    model.bytes_at_cut = {1000, 1000, 1000};
    for (const char* const name : {"herad", "mixed", "packed"}) {
        CAPTURE(name);
        const Schedule schedule =
            near_schedule(strategy(name), chain_of({6, 6, 6, 6}), {.big = 4}, {}, model);
        CHECK(schedule.period_us == doctest::Approx(6.409));
    }
}

TEST_CASE(
    "near schedules: a strategy is asked for one cluster, two, four, ... and all, of kinds that there are") {
    std::vector<int> asked;
    const auto make = [&](const Platform& cores, const CostModel&) {
        asked.push_back(cores.big);
        CHECK(cores.others.empty());
        return Schedule{.stages = {{0, 1, 1, "big"}}};
    };
    CostModel model{
        .far_cuts = {{"big", {{0}, {1, 2}, {3}, {4}, {5, 6, 7}}, 1, 0}, {"tiny", {{8}, {9}}, 1, 0}}};
    near_schedule(chain_of({6}), {.big = 8}, model, make);
    CHECK(asked == std::vector<int>{3, 3, 5, 5, 7, 7, 8, 8});
    asked.clear();
    model.far_cuts.clear();
    near_schedule(chain_of({6}), {.big = 8}, model, make);
    CHECK(asked == std::vector<int>{8});
}

TEST_CASE("near schedules: strategies that know no costs are placed, too") {
    const CostModel model{.far_cuts = {{"big", {{0, 2}, {1, 3}}, 4, 0}}};
    const Schedule schedule =
        near_schedule(strategy("fertac"), chain_of({6, 6, 6, 6}), {.big = 4}, {}, model);
    CHECK(far_cuts_us(schedule, model).size() == schedule.stages.size());
}

TEST_CASE("near schedules: cores that are left free are nobody's") {
    const CostModel model{.far_cuts = {{"big", {{0, 1, 2}, {3}}, 1, 0}}};
    const Schedule schedule = near_schedule(herad_strategy(), chain_of({6, 6, 6, 6}), {.big = 4},
                                            {.leave_free = {.big = 2}}, model);
    CHECK(schedule.thread_count() == 2);
    CHECK(schedule.period_us == 12);
}

TEST_CASE("near schedules: how far the choice of cuts is from the best of all schedules in stages") {
    const std::uint64_t seed = 5;
    Random random(seed);
    double sum = 0;
    double most = 0;
    int off = 0;
    constexpr int kCases = 1000;
    for (int i = 0; i < kCases; ++i) {
        CAPTURE(i);
        const Made made = any_problem(random);
        Schedule begun;
        const double least_us = least_of_all(made, begun, made.cores);
        const Schedule found =
            near_schedule(herad_strategy(), made.chain, {.big = made.cores}, {}, made.model);
        CHECK(*found.period_us >= least_us - 1e-6);
        const double above = *found.period_us / least_us - 1;
        sum += above;
        most = std::max(most, above);
        off += above > 1e-6 ? 1 : 0;
    }
    MESSAGE(fmt::format("seed {}: {} of {} above the best, {:.2f} % in the mean, {:.1f} % at most", seed, off,
                        kCases, 100 * sum / kCases, 100 * most));
    CHECK(sum / kCases < 0.02);
}

}  // namespace tidemill

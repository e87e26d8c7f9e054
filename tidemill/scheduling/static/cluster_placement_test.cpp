#include "tidemill/scheduling/static/cluster_placement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/scheduling/static/internal/cluster_search.hpp"

namespace tidemill {
namespace {

constexpr double kSameUs = 1e-3;  // frames of a round are fewer than a thousand

using Random = std::mt19937_64;

int any_of(Random& random, int least, int most) {
    return std::uniform_int_distribution(least, most)(random);
}

CostModel in_clusters(const std::vector<std::vector<int>>& clusters, double hop_us, double byte_us = 0) {
    return {.far_cuts = {{"big", clusters, hop_us, byte_us}}};
}

Chain chain_of(const std::vector<double>& weights_us, bool replicable = false) {
    Chain chain{.kinds = {"big"}, .tasks = {}};
    for (const double us : weights_us)
        chain.tasks.push_back({fmt::format("t{}", chain.tasks.size() + 1), replicable, {us}});
    return chain;
}

/// A stage of one task each, on so many threads.
Schedule stages_of(const std::vector<int>& threads) {
    Schedule schedule;
    for (const int count : threads) schedule.stages.push_back({schedule.stages.size(), 1, count, "big"});
    return schedule;
}

std::vector<int> cores_named(const Schedule& schedule) {
    std::vector<int> cores;
    for (const CoreResource& resource : schedule.resources)
        for (const NodeRange& node : resource.nodes) cores.push_back(node.first);
    return cores;
}

/// A problem of one kind, and what each thread does without far cuts.
struct Made {
    Chain chain{.kinds = {"big"}, .tasks = {}};
    Schedule schedule{};
    CostModel model{};
    std::vector<std::vector<std::size_t>>
        seats{};  // [stage][thread]: the core's place in the order of threads
    std::size_t threads = 0;
};

// With some threads that own two stages, where `owned`; others are in turn, or have a word.
Made any_problem(Random& random) {
    Made made;
    const int stages = any_of(random, 2, 4);
    const bool with_owner = stages > 2 && any_of(random, 0, 3) == 0;
    for (int s = 0; s < stages; ++s) {
        const int threads = with_owner ? 1
                                       : std::min(any_of(random, 1, 3),
                                                  7 - static_cast<int>(made.threads) - (stages - 1 - s));
        made.chain.tasks.push_back({fmt::format("t{}", s), threads > 1, {double(any_of(random, 1, 40))}});
        made.chain.tasks.back().bytes_after = any_of(random, 0, 3) * 100;
        Stage& stage = made.schedule.stages.emplace_back(Stage{std::size_t(s), 1, threads, "big"});
        if (threads > 1 && any_of(random, 0, 2) == 0) {
            const std::vector<std::string> kinds(static_cast<std::size_t>(threads), "big");
            std::vector<std::size_t> counts(kinds.size());
            for (std::size_t& count : counts) count = static_cast<std::size_t>(any_of(random, 1, 3));
            stage.word = spread_word(kinds, counts);
            stage.core_kind.clear();
        }
        if (with_owner && (s == 0 || s == 2)) stage.owners = {1};
        std::vector<std::size_t>& seats = made.seats.emplace_back();
        for (int thread = 0; thread < threads; ++thread)
            seats.push_back(with_owner && s == 2 ? made.seats[0][0] : made.threads++);
    }
    std::vector<std::vector<int>> clusters;
    int cores = 0;
    while (cores < static_cast<int>(made.threads) || clusters.size() < 2) {
        std::vector<int>& cluster = clusters.emplace_back();
        for (int left = any_of(random, 1, 4); left > 0; --left) cluster.push_back(cores++);
    }
    made.model =
        with_bytes_of(made.chain, in_clusters(clusters, any_of(random, 0, 12), any_of(random, 0, 2) * 0.01));
    return made;
}

/// Period, far cuts in all, and clusters, by the definition: one frame after the other.
using Rank = std::tuple<double, double, std::size_t>;

Rank rank_of(const Made& made, const std::vector<std::size_t>& clusters) {
    std::vector<double> busy_us(made.threads, 0);
    double far_us = 0;
    std::size_t round = 1;
    for (const Stage& stage : made.schedule.stages) round = std::lcm(round, stage.turns().round());
    const FarCuts& far = made.model.far_cuts[0];
    for (std::size_t frame = 0; frame < round; ++frame) {
        for (std::size_t s = 0; s < made.schedule.stages.size(); ++s) {
            const std::size_t here = made.seats[s][made.schedule.stages[s].turns().thread_of(frame)];
            busy_us[here] += made.chain.tasks[s].weight_us[0];
            if (s == 0) continue;
            const std::size_t before =
                made.seats[s - 1][made.schedule.stages[s - 1].turns().thread_of(frame)];
            if (clusters[here] == clusters[before]) continue;
            const double cut_us = far.hop_us + far.byte_us * made.chain.tasks[s - 1].bytes_after;
            busy_us[here] += cut_us;
            busy_us[before] += cut_us;
            far_us += cut_us;
        }
    }
    const auto frames = static_cast<double>(round);
    return {std::ranges::max(busy_us) / frames, far_us / frames,
            std::set<std::size_t>(clusters.begin(), clusters.end()).size()};
}

bool is_less(const Rank& a, const Rank& b) {
    if (std::abs(std::get<0>(a) - std::get<0>(b)) > kSameUs) return std::get<0>(a) < std::get<0>(b);
    if (std::abs(std::get<1>(a) - std::get<1>(b)) > kSameUs) return std::get<1>(a) < std::get<1>(b);
    return std::get<2>(a) < std::get<2>(b);
}

/// Least rank of every way to put the threads into clusters.
Rank least_rank(const Made& made, std::vector<std::size_t>& clusters, std::vector<std::size_t>& rooms) {
    if (clusters.size() == made.threads) return rank_of(made, clusters);
    std::optional<Rank> least;
    for (std::size_t cluster = 0; cluster < rooms.size(); ++cluster) {
        if (rooms[cluster] == 0) continue;
        --rooms[cluster];
        clusters.push_back(cluster);
        const Rank rank = least_rank(made, clusters, rooms);
        if (!least || is_less(rank, *least)) least = rank;
        clusters.pop_back();
        ++rooms[cluster];
    }
    return *least;
}

std::vector<std::size_t> clusters_of_threads(const Made& made) {
    std::vector<std::size_t> clusters;
    for (const int core : cores_named(made.schedule)) {
        if (clusters.size() == made.threads) break;
        const auto& all = made.model.far_cuts[0].clusters;
        const auto has = [&](const std::vector<int>& cluster) {
            return std::ranges::find(cluster, core) != cluster.end();
        };
        clusters.push_back(static_cast<std::size_t>(std::ranges::find_if(all, has) - all.begin()));
    }
    return clusters;
}

}  // namespace

TEST_CASE("clusters: threads are placed as well as in any other way") {
    const std::uint64_t seed = 17;
    MESSAGE("seed ", seed);
    Random random(seed);
    for (int i = 0; i < 3000; ++i) {
        CAPTURE(i);
        Made made = any_problem(random);
        std::vector<std::size_t> rooms;
        for (const auto& cluster : made.model.far_cuts[0].clusters) rooms.push_back(cluster.size());
        std::vector<std::size_t> none;
        const Rank least = least_rank(made, none, rooms);
        place_in_clusters(made.schedule, made.chain, made.model);
        const Rank placed = rank_of(made, clusters_of_threads(made));
        CAPTURE(std::get<0>(least));
        CAPTURE(std::get<0>(placed));
        CHECK_FALSE(is_less(least, placed));
        CHECK(period_us(made.schedule, made.chain, made.model) == doctest::Approx(std::get<0>(placed)));
    }
}

TEST_CASE("clusters: what fits into one cluster sits in one, and the cores that are left are named last") {
    const Chain chain = chain_of({5, 5, 5});
    Schedule schedule = stages_of({1, 1, 1});
    place_in_clusters(schedule, chain, in_clusters({{0, 2}, {1, 3, 5}}, 1));
    CHECK(cores_named(schedule) == std::vector<int>{1, 3, 5, 0, 2});
    CHECK(period_us(schedule, chain, in_clusters({{0, 2}, {1, 3, 5}}, 1)) == 5);
}

TEST_CASE("clusters: a far cut counts on both sides, by its bytes, and is where it costs least") {
    Chain chain = chain_of({10, 4, 4, 10});
    for (ChainTask& task : chain.tasks) task.bytes_after = 100;
    chain.tasks[1].bytes_after = 300;
    const CostModel model = with_bytes_of(chain, in_clusters({{0, 1, 2}, {3, 4, 5}}, 1, 0.01));
    Schedule schedule = stages_of({1, 1, 1, 1});
    place_in_clusters(schedule, chain, model);
    // 1 us and 0.01 us a byte: in the middle it is 4, beside stages that have the time for it.
    CHECK(cores_named(schedule) == std::vector<int>{0, 1, 3, 4, 2, 5});
    CHECK(far_cuts_us(schedule, model) == std::vector<std::vector<double>>{{0}, {4}, {4}, {0}});
    CHECK(period_us(schedule, chain, model) == 10);
    CHECK(stage_weights_us(schedule, chain, model) == std::vector<double>{10, 8, 8, 10});
    CHECK(period_us(schedule, chain, {}) == 10);
}

TEST_CASE("clusters: threads that hand frames to each other sit together, stage by stage or not") {
    const Chain chain = chain_of(std::vector<double>(2, 80), true);
    Schedule schedule = stages_of({8, 8});
    std::vector<std::vector<int>> clusters(4);
    for (int core = 0; core < 16; ++core) clusters[static_cast<std::size_t>(core / 4)].push_back(core);
    const CostModel model = in_clusters(clusters, 3);
    place_in_clusters(schedule, chain, model);
    CHECK(period_us(schedule, chain, model) ==
          10);  // the i-th thread of a stage has the frames of the other's
}

TEST_CASE("clusters: cores that the schedule names stay, and count as they are") {
    const Chain chain = chain_of({5, 5});
    const CostModel model = in_clusters({{0, 1}, {2, 3}}, 2);
    Schedule given = stages_of({1, 1});
    given.resources = {{"big", {{NodeRange::Unit::kCore, 1, 2}}, 1, {}}};
    const Schedule before = given;
    place_in_clusters(given, chain, model);
    CHECK(given == before);
    CHECK(period_us(given, chain, model) == 7);
    Schedule elsewhere = given;
    elsewhere.resources[0].nodes = {{NodeRange::Unit::kCore, 1, 9}};
    CHECK(period_us(elsewhere, chain, model) == 5);  // nobody knows how far those are
    Schedule open = stages_of({1, 1});
    CHECK(period_us(open, chain, model) == 5);
    open.stages[0].pinning = Pinning::kDistant;
    place_in_clusters(open, chain, model);
    CHECK(open.resources.empty());
}

TEST_CASE("clusters: each of two kinds is placed, where the slower one leaves time with fewer far cuts") {
    Chain chain{.kinds = {"big", "little"}, .tasks = {}};
    for (const double us : {9.0, 9.0, 8.0, 2.0, 2.0})
        chain.tasks.push_back({fmt::format("t{}", chain.tasks.size()), false, {us, us}});
    Schedule schedule{.stages = {{0, 1, 1, "big"},
                                 {1, 1, 1, "big"},
                                 {2, 1, 1, "little"},
                                 {3, 1, 1, "little"},
                                 {4, 1, 1, "little"}}};
    chain.tasks[3].bytes_after = 200;
    const CostModel model = with_bytes_of(
        chain, {.far_cuts = {{"little", {{2, 3}, {4, 5}}, 1, 0.01}, {"big", {{0}, {1}}, 3, 0}}});
    place_in_clusters(schedule, chain, model);
    CHECK(period_us(schedule, chain, model) == 12);
    CHECK(schedule.resources.size() == 2);
    CHECK(far_cuts_us(schedule, model) == std::vector<std::vector<double>>{{3}, {3}, {1}, {1}, {0}});
}

TEST_CASE("clusters: there may be none, one, or fewer cores in them than threads, and then nothing is far") {
    const Chain chain = chain_of({5, 5, 5});
    for (const std::vector<std::vector<int>>& clusters :
         {std::vector<std::vector<int>>{}, {{}}, {{0, 1}}, {{0}, {}, {1}}}) {
        CAPTURE(clusters.size());
        const CostModel model = in_clusters(clusters, 3);
        Schedule schedule = stages_of({1, 1, 1});
        place_in_clusters(schedule, chain, model);
        CHECK(schedule.resources.empty());
        CHECK(period_us(schedule, chain, model) == 5);
    }
    Schedule schedule = stages_of({1, 1, 1});
    place_in_clusters(schedule, chain, in_clusters({{}, {4, 5, 6}}, 3));
    CHECK(cores_named(schedule) == std::vector<int>{4, 5, 6});
}

TEST_CASE("clusters: of one core each, a cut between two threads is far wherever they are") {
    const Chain chain = chain_of({5, 5, 5});
    Schedule schedule = stages_of({1, 1, 1});
    const CostModel model = in_clusters({{3}, {1}, {2}, {0}}, 3);
    place_in_clusters(schedule, chain, model);
    CHECK(cores_named(schedule).size() == 4);
    CHECK(period_us(schedule, chain, model) == 11);
}

TEST_CASE("clusters: frames beyond any size and weights beyond any time are still placed") {
    Chain chain = chain_of({5, 1e300, 5, 5});
    for (ChainTask& task : chain.tasks) task.bytes_after = 1e300;
    const CostModel model = with_bytes_of(chain, in_clusters({{0, 1}, {2, 3}}, 1e9, 1));
    Schedule schedule = stages_of({1, 1, 1, 1});
    place_in_clusters(schedule, chain, model);
    CHECK(cores_named(schedule) == std::vector<int>{0, 1, 2, 3});
    CHECK(period_us(schedule, chain, model) == doctest::Approx(2e300));
}

TEST_CASE("clusters: a search that is cut short has an answer") {
    Random random(3);
    internal::ClusterProblem problem{.rooms = {20, 20, 20}};
    for (std::size_t thread = 0; thread < 60; ++thread) {
        problem.busy_ps.push_back(any_of(random, 1, 1000));
        for (std::size_t to = 0; to < thread; ++to)
            problem.talks.push_back({to, thread, any_of(random, 0, 50)});
    }
    const internal::ClusterChoice choice = internal::best_clusters(problem, 100);
    REQUIRE(choice.clusters.size() == 60);
    for (std::size_t cluster = 0; cluster < 3; ++cluster)
        CHECK(std::ranges::count(choice.clusters, cluster) == 20);
}

}  // namespace tidemill

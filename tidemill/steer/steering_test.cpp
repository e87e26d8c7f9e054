#include "tidemill/steer/steering.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <doctest/doctest.h>

namespace tidemill::steer {
namespace {

using bridge::Factor;
using bridge::Quality;

constexpr std::size_t kBig = 0;
constexpr std::size_t kLittle = 1;

/// A thread that takes so many times longer on kinds 1, 2 and so on.
ThreadState thread(std::uint64_t id, std::vector<double> times_longer, std::size_t kind) {
    ThreadState made{.id = id, .kind = kind, .factors = {{1, Quality::measured, 0}}};
    for (const double factor : times_longer) made.factors.push_back({factor, Quality::measured, 0});
    return made;
}

/// Threads that want so much of a core of kind 0 each, wherever they are.
void place(Snapshot& snapshot, const std::vector<double>& work, std::size_t thread, std::size_t kind) {
    ThreadState& placed = snapshot.threads[thread];
    placed.kind = kind;
    placed.demand = std::min(1.0, work[thread] * (work[thread] < 1 ? placed.factors[kind].value : 1));
}

void apply(const std::vector<Change>& changes, Snapshot& snapshot, const std::vector<double>& work) {
    for (const Change& change : changes)
        for (const Move& move : change.moves) {
            REQUIRE(snapshot.threads[move.thread].kind == move.from);
            place(snapshot, work, move.thread, move.to);
        }
}

void apply(const std::vector<Change>& changes, Snapshot& snapshot) {
    apply(changes, snapshot, std::vector<double>(snapshot.threads.size(), 1));
}

/// Decides again and again until nothing changes; fails where that never comes.
void settle(Snapshot& snapshot, const std::vector<double>& work, const Settings& settings) {
    for (int decisions = 0; decisions < 50; ++decisions) {
        const std::vector<Change> changes = steer(snapshot, settings);
        if (changes.empty()) return;
        apply(changes, snapshot, work);
    }
    FAIL("fifty decisions, and no end");
}

void settle(Snapshot& snapshot, const Settings& settings = {}) {
    std::vector<double> work;
    for (const ThreadState& each : snapshot.threads) work.push_back(each.demand);
    settle(snapshot, work, settings);
}

/// Objective of decisions, by the speeds alone: per worth, so that 0.02 are two per cent.
double mean_log_speed(const Snapshot& snapshot, const std::vector<double>& work) {
    const std::vector<Speed> all = speeds(snapshot);
    double sum = 0;
    double worth = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        sum += snapshot.threads[i].weight * work[i] * std::log(all[i].now);
        worth += snapshot.threads[i].weight * work[i];
    }
    return sum / worth;
}

double best_mean_log_speed(Snapshot snapshot, const std::vector<double>& work, std::size_t first = 0) {
    if (first == snapshot.threads.size()) return mean_log_speed(snapshot, work);
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t kind = 0; kind < snapshot.kinds.size(); ++kind) {
        place(snapshot, work, first, kind);
        best = std::max(best, best_mean_log_speed(snapshot, work, first + 1));
    }
    return best;
}

unsigned one_to(unsigned most, std::mt19937& random) {
    return std::uniform_int_distribution(1U, most)(random);
}

}  // namespace

TEST_CASE("steering: of three threads the compute-bound one comes to the big core from wherever they began") {
    int starts = 0;
    std::vector<double> ratios = {1.2, 1.3, 2.4};
    do {
        for (unsigned where = 0; where < 8; ++where, ++starts) {
            Snapshot snapshot{.kinds = {{1}, {1}}, .threads = {}};
            for (unsigned i = 0; i < 3; ++i)
                snapshot.threads.push_back(thread(i, {ratios[i]}, where >> i & 1));
            settle(snapshot);
            for (const ThreadState& each : snapshot.threads)
                if (each.factors[kLittle].value == 2.4) CHECK(each.kind == kBig);
        }
    } while (std::ranges::next_permutation(ratios).found);
    CHECK(starts == 48);
}

TEST_CASE("steering: two threads on the wrong cores change places in one step") {
    Snapshot snapshot{.kinds = {{1}, {1}}, .threads = {thread(7, {1.1}, kBig), thread(9, {3}, kLittle)}};
    const std::vector<Change> changes = steer(snapshot);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].moves.size() == 2);
    CHECK(changes[0].reason == Reason::speed);
    CHECK(changes[0].gain == doctest::Approx(std::log(3 / 1.1)));
    const std::vector<std::string> names = {"big", "little"};
    const auto name_of = [&](std::size_t i) { return std::to_string(snapshot.threads[i].id); };
    CHECK(describe(changes[0], snapshot, names, name_of) ==
          "exchange: 9 to big (3.00 times longer on little), 7 to little (1.10 times longer on little), for "
          "speed");
}

TEST_CASE("steering: what brings less than the hysteresis is left alone, and so is who was just moved") {
    Snapshot snapshot{.kinds = {{1}, {1}}, .threads = {thread(0, {2.0}, kBig), thread(1, {2.1}, kLittle)}};
    CHECK(steer(snapshot).empty());
    snapshot.threads[1] = thread(1, {3.0}, kLittle);
    snapshot.threads[0].rest_s = 0.1;
    CHECK(steer(snapshot).empty());
    snapshot.threads[0].rest_s = 1;
    CHECK(steer(snapshot).size() == 1);
}

TEST_CASE("steering: factors that waver by three per cent move nobody") {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> wavering(0.97, 1.03);
    Snapshot snapshot{.kinds = {{2}, {2}}, .threads = {}};
    for (unsigned i = 0; i < 8; ++i) snapshot.threads.push_back(thread(i, {2}, i % 2));
    settle(snapshot);
    for (int decision = 0; decision < 1000; ++decision) {
        for (ThreadState& each : snapshot.threads) each.factors[kLittle].value = 2 * wavering(random);
        CHECK(steer(snapshot).empty());
    }
}

TEST_CASE(
    "steering: where all have one weight, two kinds reach the best of all assignments within the "
    "hysteresis") {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> ratio(1, 5);
    for (int round = 0; round < 300; ++round) {
        Snapshot snapshot{.kinds = {{one_to(3, random)}, {one_to(3, random)}}, .threads = {}};
        const unsigned threads = one_to(8, random);
        for (unsigned i = 0; i < threads; ++i)
            snapshot.threads.push_back(thread(i, {ratio(random)}, random() % 2));
        settle(snapshot, {.hysteresis = 1e-9, .migration_cost_s = 0});
        const std::vector<double> all(threads, 1);
        CHECK(mean_log_speed(snapshot, all) == doctest::Approx(best_mean_log_speed(snapshot, all)));
    }
}

TEST_CASE("steering: with three kinds, weights and demands 98 of 100 ends are within 2 % of the best speed") {
    int far = 0;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> ratio(1, 3);
    std::uniform_real_distribution<double> part(0.02, 0.1);
    for (int round = 0; round < 200; ++round) {
        Snapshot snapshot{.kinds = {{1}, {one_to(2, random)}, {one_to(2, random)}}, .threads = {}};
        std::vector<double> work;  // wanted of a core of kind 0
        for (unsigned i = 0; i < 6; ++i) {
            const double middle = ratio(random);
            snapshot.threads.push_back(thread(i, {middle, middle * ratio(random)}, random() % 3));
            snapshot.threads[i].weight = one_to(3, random);
            work.push_back(i < 2 ? part(random) : 1);
        }
        for (std::size_t i = 0; i < 6; ++i) place(snapshot, work, i, snapshot.threads[i].kind);
        settle(snapshot, work, {.hysteresis = 1e-9, .migration_cost_s = 0, .least_demand = 0});
        if (mean_log_speed(snapshot, work) < best_mean_log_speed(snapshot, work) - 0.02) ++far;
    }
    CHECK(far <= 4);
}

TEST_CASE("steering: who stays, or wants little, is not moved but has its share") {
    Snapshot snapshot{
        .kinds = {{1}, {1}},
        .threads = {thread(0, {1.1}, kBig), thread(1, {3}, kLittle), thread(2, {1.2}, kLittle)}};
    snapshot.threads[0].stays = true;
    snapshot.threads[2].demand = 0.05;
    for (int i = 0; i < 2; ++i)
        for (const Change& change : steer(snapshot))
            for (const Move& move : change.moves) CHECK(move.thread == 1);
    CHECK(speeds(snapshot)[0].now == 1);
    snapshot.threads[1].kind = kBig;
    CHECK(speeds(snapshot)[0].now == 0.5);
}

TEST_CASE("steering: a kind that lost its cores is left at once, however long its threads have rested") {
    Snapshot snapshot{.kinds = {{0}, {2}}, .threads = {thread(0, {2}, kBig), thread(1, {3}, kBig)}};
    snapshot.threads[0].rest_s = 0;
    snapshot.threads[1].demand = 0;
    const std::vector<Change> changes = steer(snapshot);
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].reason == Reason::no_cores);
    apply(changes, snapshot);
    CHECK(snapshot.threads[0].kind == kLittle);
    CHECK(snapshot.threads[1].kind == kLittle);
    snapshot.kinds[kLittle].cores = 0;
    CHECK(steer(snapshot).empty());
}

TEST_CASE(
    "steering: of threads of which nothing is known one at a time is tried elsewhere, if that is wanted") {
    Snapshot snapshot{.kinds = {{1, 1}, {1, 2}}, .threads = {thread(0, {}, kBig), thread(1, {}, kLittle)}};
    snapshot.threads[1].factors.clear();
    CHECK(steer(snapshot).empty());
    const std::vector<Change> changes = steer(snapshot, {.learns = true});
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].reason == Reason::learning);
    CHECK(changes[0].moves.size() == 2);
}

TEST_CASE("steering: nobody has an absent factor's value for knowledge") {
    Snapshot snapshot{.kinds = {{1, 1}, {1, 2}}, .threads = {thread(0, {1.2}, kBig), thread(1, {}, kLittle)}};
    snapshot.threads[1].factors = {{1, Quality::measured, 0}, {1, Quality::absent, 0}};
    CHECK(steer(snapshot).size() == 1);  // 2 by what is usual, which is more than 1.2
}

TEST_CASE("steering: with a bound for fairness no equal thread falls behind for good") {
    const Settings settings{.fair = 0.25};
    Snapshot snapshot{.kinds = {{1}, {1}}, .threads = {}};
    for (unsigned i = 0; i < 3; ++i) snapshot.threads.push_back(thread(i, {5}, i == 0 ? kLittle : kBig));
    int exchanges = 0;
    for (int decision = 0; decision < 400; ++decision) {
        const std::vector<Change> changes = steer(snapshot, settings);
        exchanges += static_cast<int>(changes.size());
        for (const Change& change : changes) CHECK(change.reason == Reason::fairness);
        apply(changes, snapshot);
        const std::vector<Speed> now = speeds(snapshot);
        for (std::size_t i = 0; i < 3; ++i) {
            double& received = snapshot.threads[i].received;
            received += settings.fair_look_ahead * (now[i].now / now[i].alone - received);
            CHECK(received > 1 / (1 + *settings.fair) - 0.02);
        }
    }
    CHECK(exchanges > 10);
    snapshot.threads[0].received = 0.1;
    CHECK(steer(snapshot).empty());  // without a promise, nobody is owed anything
}

TEST_CASE(
    "steering: what cannot be, such as kinds that are none and factors that are no numbers, harms nobody") {
    CHECK(steer({}).empty());
    CHECK(steer({.kinds = {{1}}, .threads = {thread(0, {}, 5)}}).empty());
    CHECK(speeds({.kinds = {}, .threads = {thread(0, {}, 0)}}).size() == 1);
    Snapshot snapshot{.kinds = {{1, NAN}, {1, -1}},
                      .threads = {thread(0, {NAN}, 9), thread(1, {-INFINITY}, 1), thread(2, {0}, 1)}};
    snapshot.threads[0].weight = NAN;
    snapshot.threads[1].demand = -1;
    snapshot.threads[2].received = NAN;
    settle(snapshot, {.fair = -1});
}

TEST_CASE("steering: five hundred threads come to rest, whatever they are") {
    std::mt19937 random(4);
    std::uniform_real_distribution<double> ratio(1, 5);
    Snapshot snapshot{.kinds = {{8}, {16}}, .threads = {}};
    for (unsigned i = 0; i < 500; ++i) {
        snapshot.threads.push_back(thread(i, {ratio(random)}, random() % 2));
        snapshot.threads[i].demand = i % 5 == 0 ? 1 : 0.02;
    }
    settle(snapshot);
    double least_on_big = 5;
    double most_on_little = 1;
    for (const ThreadState& each : snapshot.threads) {
        if (each.demand < 1) continue;
        const double factor = each.factors[kLittle].value;
        if (each.kind == kBig) least_on_big = std::min(least_on_big, factor);
        if (each.kind == kLittle) most_on_little = std::max(most_on_little, factor);
    }
    CHECK(most_on_little < least_on_big * 1.11);
}

}  // namespace tidemill::steer

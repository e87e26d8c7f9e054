#include "tidemill/scheduling/unequal/placement.hpp"

#include <numeric>

#include <doctest/doctest.h>

namespace tidemill::bridge {
namespace {

constexpr policy::KindId kBig = 0;
constexpr policy::KindId kLittle = 1;
constexpr std::uint64_t kUs = 1000;

/// A big worker (0) and a little one (1) in a time that the test sets.
class OneOfEach {
  public:
    explicit OneOfEach(const std::vector<KnownTicks>& known)
        : placement_({{kBig, kLittle}, [this] { return now_; }, kUs}) {
        for (const KnownTicks& ticks : known) placement_.add_type(policy::kAnyKind, false, ticks);
    }

    Placement& placement() { return placement_; }
    void pass(std::uint64_t ticks) { now_ += ticks; }

    void begin(policy::WorkerId worker, policy::TaskTypeId type, std::uint64_t expected) {
        placement_.ready(type);
        placement_.issued(worker, type, expected);
    }
    /// A whole call, which the other worker does not see.
    void call(policy::WorkerId worker, policy::TaskTypeId type, std::uint64_t ticks) {
        begin(worker, type, ticks);
        now_ += ticks;
        placement_.completed(worker, type, 1, ticks);
    }
    bool may_have(policy::WorkerId worker, policy::TaskTypeId type) {
        return placement_.may_have(worker)[type] != 0;
    }

  private:
    std::uint64_t now_ = 1'000'000;
    Placement placement_;
};

// The first type is hurt most by a little core, the second one least.
const std::vector<KnownTicks> kApart{{100 * kUs, 500 * kUs}, {100 * kUs, 130 * kUs}};

// Both kinds have had as much to do as they can, and what is tried now and then has been.
void settle(OneOfEach& cores) {
    for (int i = 0; i < 20; ++i) {
        cores.call(kBig, 0, 100 * kUs);
        cores.call(kLittle, 1, 130 * kUs);
    }
    cores.placement().ready(0);
    if (cores.may_have(1, 0)) cores.call(kLittle, 0, 500 * kUs);
    cores.placement().issued(0, 0, 100 * kUs);
    cores.pass(100 * kUs);
    cores.placement().completed(0, 0, 1, 100 * kUs);
}

// Two task types of which a task is always ready; the one that was taken less lately goes first.
class TwoTypes {
  public:
    using TicksOf = std::uint64_t (*)(policy::WorkerId, policy::TaskTypeId);

    TwoTypes(OneOfEach& cores, TicksOf ticks_of) : cores_(cores), ticks_of_(ticks_of) {
        cores_.placement().ready(0);
        cores_.placement().ready(1);
    }

    // Each worker's call.
    void turn() {
        for (const policy::WorkerId worker : {0u, 1u}) {
            if (cores_.may_have(worker, oldest_)) {
                run(worker, oldest_);
            } else if (cores_.may_have(worker, 1 - oldest_)) {
                run(worker, 1 - oldest_);
            }
        }
    }
    int tasks() const { return tasks_; }

  private:
    void run(policy::WorkerId worker, policy::TaskTypeId type) {
        oldest_ = 1 - type;
        const std::uint64_t ticks = ticks_of_(worker, type);
        cores_.placement().issued(worker, type, ticks);
        cores_.pass(ticks);
        cores_.placement().completed(worker, type, 1, ticks);
        cores_.placement().ready(type);
        ++tasks_;
    }

    OneOfEach& cores_;
    TicksOf ticks_of_;
    policy::TaskTypeId oldest_ = 0;
    int tasks_ = 0;
};

}  // namespace

TEST_CASE("placement: each kind has first what it is best at") {
    OneOfEach cores(kApart);
    settle(cores);
    cores.placement().ready(0);
    cores.placement().ready(1);
    CHECK(cores.may_have(0, 0));
    CHECK_FALSE(cores.may_have(0, 1));
    CHECK(cores.may_have(1, 1));
    CHECK_FALSE(cores.may_have(1, 0));
}

TEST_CASE("placement: an idle little core leaves a task that the big one will have finished sooner") {
    OneOfEach cores(kApart);
    settle(cores);
    cores.begin(0, 0, 100 * kUs);
    cores.pass(10 * kUs);
    cores.placement().ready(0);
    CHECK_FALSE(cores.placement().may_take(1));
    const std::uint64_t patience = cores.placement().patience_ticks(1);
    CHECK(patience > 90 * kUs);
    SUBCASE("and has it when the big one is late by what is lost on the little one") {
        cores.pass(patience - kUs);
        CHECK_FALSE(cores.placement().may_take(1));
        cores.pass(2 * kUs);
        CHECK(cores.may_have(1, 0));
        CHECK(patience <= 2 * 500 * kUs);
    }
    SUBCASE("and has it at once when so many wait there that it is done before") {
        cores.pass(500 * kUs);
        cores.placement().completed(0, 0, 1, 510 * kUs);
        cores.begin(0, 0, 100 * kUs);
        for (int i = 0; i < 5; ++i) cores.placement().ready(0);
        cores.pass(500 * kUs);
        CHECK(cores.may_have(1, 0));
    }
}

TEST_CASE("placement: an idle big core takes what is at home on a little one that is busy") {
    OneOfEach cores(kApart);
    settle(cores);
    cores.begin(1, 1, 130 * kUs);
    cores.placement().ready(1);
    cores.pass(200 * kUs);
    CHECK(cores.may_have(0, 1));
}

TEST_CASE("placement: what never ran on a kind is no knowledge; it is tried there, one call at a time") {
    OneOfEach cores({{}, {}});
    for (int i = 0; i < 10; ++i) cores.call(0, 0, 100 * kUs);
    CHECK(cores.placement().factors().read(1, kLittle).quality == Quality::absent);
    CHECK(cores.placement().factors().read(0, kLittle).quality != Quality::measured);
    cores.placement().ready(0);
    cores.placement().ready(0);
    CHECK(cores.may_have(1, 0));
    for (int i = 0; i < 10; ++i) cores.call(1, 0, 300 * kUs);
    cores.pass(20'000 * kUs);
    cores.call(1, 0, 300 * kUs);
    const Factor learned = cores.placement().factors().read(0, kLittle);
    CHECK(learned.quality == Quality::measured);
    CHECK(learned.value == doctest::Approx(3).epsilon(0.01));
}

TEST_CASE("placement: once all is settled, finding out takes 2 % of the work at most") {
    OneOfEach cores(kApart);
    settle(cores);
    TwoTypes frames(cores, [](policy::WorkerId worker, policy::TaskTypeId type) {
        return (worker == kBig ? 100 : type == 0 ? 500 : 130) * kUs;
    });
    for (int i = 0; i < 5000; ++i) frames.turn();
    CHECK(cores.placement().explored_share() > 0);
    CHECK(cores.placement().explored_share() < 0.02);
}

TEST_CASE("placement: ratios that are swapped while it runs are learned again within 50 frames") {
    OneOfEach cores(kApart);
    settle(cores);
    // Now the second type is hurt by a little core, and the first one is not.
    TwoTypes frames(cores, [](policy::WorkerId worker, policy::TaskTypeId type) {
        return (worker == kBig ? 100 : type == 1 ? 500 : 130) * kUs;
    });
    const FactorMatrix& factors = cores.placement().factors();
    while (factors.read(0, kLittle).value > 1.5 || factors.read(1, kLittle).value < 3) {
        REQUIRE(frames.tasks() < 2 * 50);
        frames.turn();
    }
    frames.turn();
    CHECK(cores.may_have(0, 1));
    CHECK(cores.may_have(1, 0));
}

TEST_CASE("placement: where both kinds are as good at everything, each worker may have anything at once") {
    OneOfEach cores({{100 * kUs, 200 * kUs}, {50 * kUs, 100 * kUs}});
    for (int i = 0; i < 20; ++i) {
        cores.call(kBig, 0, 100 * kUs);
        cores.call(kLittle, 1, 100 * kUs);
    }
    CHECK_FALSE(cores.placement().may_take(kLittle));
    cores.placement().ready(1);
    for (const policy::WorkerId worker : {0u, 1u}) {
        CHECK(cores.placement().may_take(worker));
        CHECK(cores.may_have(worker, 0));
        CHECK(cores.may_have(worker, 1));
    }
}

TEST_CASE("placement: a call that lost its core to others is no change, and hardly moves what is known") {
    OneOfEach cores(kApart);
    settle(cores);
    const std::uint64_t before = cores.placement().times().on(kBig, 0).value();
    cores.call(kBig, 0, 3000 * kUs);
    for (int i = 0; i < 4; ++i) cores.call(kBig, 0, 100 * kUs);
    CHECK(cores.placement().times().on(kBig, 0).value() < before * 11 / 10);
    CHECK(cores.placement().factors().read(0, kLittle).value == doctest::Approx(5).epsilon(0.1));
}

TEST_CASE("placement: where the very first call lost its core, the next ones are believed") {
    OneOfEach cores({{}, {}});
    cores.call(kBig, 0, 3000 * kUs);
    for (int i = 0; i < 8; ++i) cores.call(kBig, 0, 100 * kUs);
    CHECK(cores.placement().times().on(kBig, 0).value() == doctest::Approx(100 * kUs).epsilon(0.05));
}

TEST_CASE("placement: a task that may run on one kind only is at home there, whatever it takes") {
    Placement placement({{kBig, kLittle}, [] { return std::uint64_t{1}; }, kUs});
    placement.add_type(policy::KindSet{1} << kLittle, false);
    placement.ready(0);
    CHECK_FALSE(placement.may_take(0));
    CHECK(placement.may_take(1));
}

}  // namespace tidemill::bridge

#include "tidemill/steer/kind_requests.hpp"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>

namespace tidemill::steer {
namespace {

constexpr double kLook_s = 0.1;

std::vector<bridge::Factor> known(const std::string& program) {
    const bridge::Factor on_little{program == "three.compute" ? 2.4 : 1.1, bridge::Quality::measured, 0};
    if (!program.starts_with("three.")) return {{1, bridge::Quality::measured, 0}, {}};
    return {{1, bridge::Quality::measured, 0}, on_little};
}

Kinds kinds() {
    Kinds kinds({{"big", {{0}}, 1}, {"little", {{1}}, 2.3}});
    kinds.set_online({0, 1});
    return kinds;
}

/// A machine whose threads are where they are wished to be, and share its cores there.
class Machine {
  public:
    ThreadAccount& add(std::uint32_t id, const std::string& program, std::size_t kind) {
        accounts_.push_back({.id = id, .started_ns = id * 10, .program = program, .on_kind_ns = {0, 0}});
        places_.push_back(kind);
        return accounts_.back();
    }
    KindDecision look(KindRequests& wishes) {
        now_s_ += kLook_s;
        KindDecision decision = wishes.look(now_s_, accounts_);
        for (const Wish& wish : decision.wishes) obey(wish);
        for (std::size_t i = 0; i < accounts_.size(); ++i) run(i);
        return decision;
    }
    void settle(KindRequests& wishes) {
        for (int i = 0; i < 30; ++i) look(wishes);
    }
    std::size_t place(std::uint32_t id) const {
        return places_.at(static_cast<std::size_t>(std::ranges::find(accounts_, id, &ThreadAccount::id) -
                                                   accounts_.begin()));
    }
    std::vector<ThreadAccount>& accounts() { return accounts_; }

  private:
    void obey(const Wish& wish) {
        const auto thread = std::ranges::find(accounts_, wish.thread, &ThreadAccount::id);
        REQUIRE(thread != accounts_.end());
        REQUIRE(thread->started_ns == wish.started_ns);
        if (wish.kind) places_.at(static_cast<std::size_t>(thread - accounts_.begin())) = *wish.kind;
    }
    void run(std::size_t thread) {
        const auto sharers = std::max<std::ptrdiff_t>(1, std::ranges::count(places_, places_[thread]));
        accounts_[thread].wanted_ns += static_cast<std::uint64_t>(kLook_s * 1e9);
        accounts_[thread].on_kind_ns.at(places_[thread]) +=
            static_cast<std::uint64_t>(kLook_s * 1e9) / static_cast<std::uint64_t>(sharers);
    }

    double now_s_ = 0;
    std::vector<ThreadAccount> accounts_;
    std::vector<std::size_t> places_;
};

}  // namespace

TEST_CASE("Of three threads the compute-bound one comes to the big core, wherever they all begin") {
    for (std::size_t beginning = 0; beginning < 8; ++beginning) {
        CAPTURE(beginning);
        KindRequests wishes(kinds(), known);
        Machine machine;
        machine.add(1, "three.compute", beginning & 1);
        machine.add(2, "three.chase1", beginning >> 1 & 1);
        machine.add(3, "three.chase2", beginning >> 2);
        machine.settle(wishes);
        CHECK(machine.place(1) == 0);
        CHECK(machine.place(2) + machine.place(3) >= 1);
        CHECK(machine.look(wishes).wishes.empty());
    }
}

TEST_CASE("A change is told in the words of the decision") {
    KindRequests wishes(kinds(), known);
    Machine machine;
    machine.add(1, "three.compute", 1);
    machine.add(2, "three.chase1", 0);
    std::vector<std::string> told;
    for (int i = 0; i < 30; ++i)
        for (const std::string& text : machine.look(wishes).told) told.push_back(text);
    REQUIRE(told.size() == 1);
    CHECK(told.front().starts_with("exchange: 1 three.compute to big (2.40 times longer on little)"));
}

TEST_CASE("Threads of which nothing is known, or which are not ours, are left alone") {
    KindRequests wishes(kinds(), known);
    Machine machine;
    machine.add(1, "other.compute", 1);
    machine.add(2, "three.compute", 1).stays = true;
    for (int i = 0; i < 30; ++i) CHECK(machine.look(wishes).wishes.empty());
}

TEST_CASE("A thread that falls idle is left alone again, and wished somewhere when it is busy") {
    KindRequests wishes(kinds(), known);
    Machine machine;
    machine.add(1, "three.compute", 0);
    machine.settle(wishes);
    double now_s = 100;
    ThreadAccount idle = machine.accounts().front();
    KindDecision decision;
    for (int i = 0; i < 50 && decision.wishes.empty(); ++i)
        decision = wishes.look(now_s += kLook_s, std::span(&idle, 1));
    CHECK(decision.wishes == std::vector<Wish>{{1, 10, std::nullopt}});
    for (decision = {}; decision.wishes.empty() && now_s < 200;) {
        idle.wanted_ns += static_cast<std::uint64_t>(kLook_s * 1e9);
        idle.on_kind_ns[1] += static_cast<std::uint64_t>(kLook_s * 1e9);
        decision = wishes.look(now_s += kLook_s, std::span(&idle, 1));
    }
    REQUIRE(decision.wishes.size() == 1);
    CHECK(decision.wishes.front().kind.has_value());
}

TEST_CASE("A thread that has another one's number begins anew") {
    KindRequests wishes(kinds(), known);
    Machine machine;
    machine.add(1, "three.compute", 1);
    machine.settle(wishes);
    REQUIRE(machine.place(1) == 0);
    machine.accounts().front().started_ns = 77;
    CHECK(machine.look(wishes).wishes.empty());  // nothing is known of its demand
    machine.settle(wishes);
    CHECK(machine.place(1) == 0);
}

}  // namespace tidemill::steer

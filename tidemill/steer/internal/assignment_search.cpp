#include "tidemill/steer/internal/assignment_search.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

namespace tidemill::steer::internal {

namespace {

// Among many threads, exchanges are tried between those that gain most; the best one is among them where
// weights are equal.
constexpr std::size_t kFewThreads = 24;
constexpr std::size_t kTried = 4;
constexpr std::size_t kMostRebuilt = 64;  // building anew takes time with the square of the threads
constexpr double kOwedFirst = 1e3;
constexpr double kRoundingErrors = 1e-9;

std::size_t kind_of(const ThreadState& thread, const Snapshot& snapshot) {
    return thread.kind < snapshot.kinds.size() ? thread.kind : 0;
}

Value operator-(const Value& a, const Value& b) {
    return {a.speed - b.speed, a.promises - b.promises};
}
void operator+=(Value& sum, const Value& more) {
    sum.speed += more.speed;
    sum.promises += more.promises;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> members_by_kind(const Snapshot& snapshot) {
    std::vector<std::vector<std::uint32_t>> members(snapshot.kinds.size());
    if (members.empty()) return members;
    for (std::uint32_t thread = 0; thread < snapshot.threads.size(); ++thread)
        members[kind_of(snapshot.threads[thread], snapshot)].push_back(thread);
    return members;
}

AssignmentSearch::AssignmentSearch(const Snapshot& snapshot, const Settings& settings)
    : snapshot_(snapshot),
      settings_(settings),
      crowd_(snapshot, settings),
      price_per_worth_(settings.hysteresis + settings.migration_cost_s / settings.horizon_s),
      members_(members_by_kind(snapshot)) {
    for (std::size_t kind = 0; kind < members_.size(); ++kind)
        values_.push_back(crowd_.value(kind, members_[kind]));
    for (const ThreadState& thread : snapshot.threads) movable_.push_back(may_move(thread) ? 1 : 0);
}

bool AssignmentSearch::may_move(const ThreadState& thread) const {
    if (thread.stays) return false;
    if (crowd_.cores(kind_of(thread, snapshot_)) == 0) return true;
    return thread.rest_s >= settings_.least_rest_s && thread.demand >= settings_.least_demand;
}

std::vector<Change> AssignmentSearch::worthwhile_changes() {
    std::vector<Change> changes;
    while (const auto step = best_step()) {
        changes.push_back(change_of(*step));
        apply(step->moves);
        for (const Move& move : step->moves) movable_[move.thread] = 0;  // once in a decision
    }
    if (changes.empty() && snapshot_.threads.size() <= kMostRebuilt) {
        if (auto change = change_to_rebuilt()) changes.push_back(*change);
    }
    return changes;
}

std::optional<AssignmentSearch::Step> AssignmentSearch::best_step() const {
    std::optional<Step> best;
    for (std::size_t one = 0; one < members_.size(); ++one)
        for (std::size_t other = 0; other < one; ++other) offer_between(best, one, other);
    return best;
}

void AssignmentSearch::offer_between(std::optional<Step>& best, std::size_t one, std::size_t other) const {
    const auto there = candidates(one, other);
    const auto back = candidates(other, one);
    for (const std::uint32_t thread : there) offer(best, {{thread, one, other}});
    for (const std::uint32_t thread : back) offer(best, {{thread, other, one}});
    for (const std::uint32_t thread : there)
        for (const std::uint32_t partner : back) offer(best, {{thread, one, other}, {partner, other, one}});
}

// Those that gain most by it, or lose least.
std::vector<std::uint32_t> AssignmentSearch::candidates(std::size_t from, std::size_t to) const {
    std::vector<std::uint32_t> found;
    if (crowd_.cores(to) == 0) return found;
    std::ranges::copy_if(members_[from], std::back_inserter(found),
                         [&](std::uint32_t thread) { return movable_[thread] != 0; });
    if (found.size() <= kFewThreads) return found;
    const auto rank = [&](std::uint32_t thread) {
        const double gained = crowd_.log_factor(thread, from) - crowd_.log_factor(thread, to);
        return gained * crowd_.worth(thread) * (crowd_.is_owed(thread) ? kOwedFirst : 1);
    };
    std::ranges::partial_sort(found, found.begin() + kTried, std::greater(), rank);
    found.resize(kTried);
    return found;
}

double AssignmentSearch::price(const std::vector<Move>& moves) const {
    double worth = 0;
    for (const Move& move : moves) worth += crowd_.worth(move.thread);
    return price_per_worth_ * worth;
}

Value AssignmentSearch::gain(const std::vector<Move>& moves) const {
    Value gained;
    for (const std::size_t kind : {moves.front().from, moves.front().to}) {
        std::vector<std::uint32_t> after = members_[kind];
        for (const Move& move : moves) {
            if (move.from == kind) std::erase(after, move.thread);
            if (move.to == kind) after.push_back(static_cast<std::uint32_t>(move.thread));
        }
        gained += crowd_.value(kind, after) - values_[kind];
    }
    return gained;
}

void AssignmentSearch::offer(std::optional<Step>& best, std::vector<Move> moves) const {
    const Value gained = gain(moves);
    const double net = gained.total() - price(moves);
    if (net > (best ? best->net : 0)) best = Step{std::move(moves), gained, net};
}

void AssignmentSearch::apply(const std::vector<Move>& moves) {
    for (const Move& move : moves) {
        std::erase(members_[move.from], move.thread);
        members_[move.to].push_back(static_cast<std::uint32_t>(move.thread));
    }
    for (const Move& move : moves)
        for (const std::size_t kind : {move.from, move.to})
            values_[kind] = crowd_.value(kind, members_[kind]);
}

Change AssignmentSearch::change_of(const Step& step) const {
    const bool was_homeless =
        std::ranges::any_of(step.moves, [&](const Move& move) { return crowd_.cores(move.from) == 0; });
    const bool is_faster = step.gain.speed > price(step.moves);
    const Reason reason = was_homeless ? Reason::no_cores : is_faster ? Reason::speed : Reason::fairness;
    return {step.moves, step.gain.total(), reason};
}

// From three kinds on, or with unequal weights, it can take a change of more than two threads to be better.
std::optional<Change> AssignmentSearch::change_to_rebuilt() {
    const Members before = members_;
    Value gained;
    for (const Value& value : values_) gained += Value{} - value;
    rebuild();
    const double price_of_change = std::exchange(price_per_worth_, kRoundingErrors);
    while (const auto step = best_step()) apply(step->moves);
    price_per_worth_ = price_of_change;
    for (const Value& value : values_) gained += value;
    Step step{.moves = {}, .gain = gained, .net = 0};
    for (std::size_t from = 0; from < before.size(); ++from)
        for (std::size_t to = 0; to < before.size(); ++to)
            for (const std::uint32_t thread : before[from])
                if (from != to && std::ranges::count(members_[to], thread) != 0)
                    step.moves.push_back({thread, from, to});
    if (step.moves.empty() || gained.total() <= price(step.moves)) return std::nullopt;
    return change_of(step);
}

void AssignmentSearch::rebuild() {
    std::vector<std::uint32_t> homeless;
    for (std::vector<std::uint32_t>& members : members_)
        std::erase_if(members, [&](std::uint32_t thread) {
            if (movable_[thread] != 0) homeless.push_back(thread);
            return movable_[thread] != 0;
        });
    for (std::size_t kind = 0; kind < members_.size(); ++kind)
        values_[kind] = crowd_.value(kind, members_[kind]);
    const auto at_stake = [&](std::uint32_t thread) {
        double least = crowd_.log_factor(thread, 0);
        double most = least;
        for (std::size_t kind = 1; kind < members_.size(); ++kind) {
            least = std::min(least, crowd_.log_factor(thread, kind));
            most = std::max(most, crowd_.log_factor(thread, kind));
        }
        return crowd_.worth(thread) * (most - least);
    };
    std::ranges::stable_sort(homeless, std::greater(), at_stake);
    for (const std::uint32_t thread : homeless) insert(thread);
}

void AssignmentSearch::insert(std::uint32_t thread) {
    std::size_t best = 0;
    double best_gain = -std::numeric_limits<double>::infinity();
    for (std::size_t kind = 0; kind < members_.size(); ++kind) {
        std::vector<std::uint32_t> after = members_[kind];
        after.push_back(thread);
        const double gained = (crowd_.value(kind, after) - values_[kind]).total();
        if (gained <= best_gain) continue;
        best_gain = gained;
        best = kind;
    }
    members_[best].push_back(thread);
    values_[best] = crowd_.value(best, members_[best]);
}

bool AssignmentSearch::is_unknown(std::uint32_t thread, std::size_t kind) const {
    const std::vector<bridge::Factor>& factors = snapshot_.threads[thread].factors;
    return kind >= factors.size() || factors[kind].quality == bridge::Quality::absent;
}

// The one that costs least.
std::optional<Change> AssignmentSearch::trial() const {
    std::optional<Change> best;
    const auto offer_trial = [&](std::vector<Move> moves) {
        const double gained = gain(moves).total();
        if (!best || gained > best->gain) best = Change{std::move(moves), gained, Reason::learning};
    };
    for (std::size_t from = 0; from < members_.size(); ++from)
        for (std::size_t to = 0; to < members_.size(); ++to) {
            if (from == to) continue;
            const std::vector<std::uint32_t> partners = candidates(to, from);
            for (const std::uint32_t thread : candidates(from, to)) {
                if (!is_unknown(thread, to)) continue;
                offer_trial({{thread, from, to}});
                for (const std::uint32_t partner : partners)
                    offer_trial({{thread, from, to}, {partner, to, from}});
            }
        }
    return best;
}

}  // namespace tidemill::steer::internal

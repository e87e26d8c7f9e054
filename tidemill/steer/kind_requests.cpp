#include "tidemill/steer/kind_requests.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace tidemill::steer {

namespace {

// That it takes as long as itself on the first kind says nothing.
bool is_known(const std::vector<bridge::Factor>& factors) {
    return std::any_of(
        factors.begin() + (factors.empty() ? 0 : 1), factors.end(),
        [](const bridge::Factor& factor) { return factor.quality != bridge::Quality::absent; });
}

std::size_t most_time_since(const ThreadAccount& before, const ThreadAccount& now, std::size_t otherwise) {
    std::size_t most = otherwise;
    std::uint64_t most_ns = 0;
    for (std::size_t kind = 0; kind < std::min(before.on_kind_ns.size(), now.on_kind_ns.size()); ++kind) {
        const std::uint64_t ns = now.on_kind_ns[kind] - before.on_kind_ns[kind];
        if (ns > most_ns) std::tie(most, most_ns) = std::pair(kind, ns);
    }
    return most;
}

}  // namespace

KindRequests::KindRequests(Kinds kinds, KnownFactors known, const Settings& settings)
    : kinds_(std::move(kinds)), known_(std::move(known)), settings_(settings) {}

KindDecision KindRequests::look(double now_s, std::span<const ThreadAccount> accounts) {
    ++looks_;
    for (const ThreadAccount& account : accounts) note(now_s, account);
    std::erase_if(threads_, [&](const auto& entry) { return entry.second.look != looks_; });
    KindDecision decision;
    const Snapshot now = snapshot(now_s);
    for (const Change& change : steer(now, settings_)) {
        apply(change, now, now_s);
        decision.told.push_back(in_words(change, now));
    }
    decision.wishes = new_wishes();
    return decision;
}

void KindRequests::note(double now_s, const ThreadAccount& account) {
    const auto [entry, is_new] = threads_.try_emplace(account.id);
    Seen& seen = entry->second;
    if (is_new || seen.last.started_ns != account.started_ns)
        seen = {};
    else if (now_s > seen.since_s)
        measure(seen, now_s, account);
    if (seen.last.program != account.program) seen.factors = known_(account.program);
    seen.last = account;
    seen.since_s = now_s;
    seen.look = looks_;
}

// A thread that begins is believed at once: demand that is not seen yet would look like room for others.
void KindRequests::measure(Seen& seen, double now_s, const ThreadAccount& account) {
    const double passed_s = now_s - seen.since_s;
    const double wanted = static_cast<double>(account.wanted_ns - seen.last.wanted_ns) * 1e-9 / passed_s;
    const double news = seen.demand ? 1 - std::exp(-passed_s / kMemory_s) : 1;
    seen.demand = seen.demand.value_or(0) * (1 - news) + std::min(wanted, 1.0) * news;
    seen.kind = seen.wish.value_or(most_time_since(seen.last, account, seen.kind));
}

Snapshot KindRequests::snapshot(double now_s) const {
    Snapshot snapshot{.kinds = kinds_.cores(), .threads = {}};
    for (const auto& [id, seen] : threads_)
        if (seen.demand > kNoticeable) snapshot.threads.push_back(state_of(seen, now_s));
    return snapshot;
}

ThreadState KindRequests::state_of(const Seen& seen, double now_s) const {
    ThreadState state{.id = seen.last.id,
                      .weight = seen.last.weight,
                      .demand = seen.demand.value_or(0),
                      .kind = seen.kind,
                      .factors = seen.factors,
                      .stays = !seen.is_ours()};
    if (seen.moved_s) state.rest_s = now_s - *seen.moved_s;
    return state;
}

void KindRequests::apply(const Change& change, const Snapshot& snapshot, double now_s) {
    for (const Move& move : change.moves) {
        Seen& seen = threads_.at(static_cast<std::uint32_t>(snapshot.threads[move.thread].id));
        seen.kind = move.to;
        seen.moved_s = now_s;
    }
}

std::vector<Wish> KindRequests::new_wishes() {
    std::vector<Wish> wishes;
    for (auto& [id, seen] : threads_) {
        const bool is_busy = seen.demand > settings_.least_demand;
        const auto wish = seen.is_ours() && is_busy ? std::optional(seen.kind) : std::nullopt;
        if (wish != seen.wish) wishes.push_back({id, seen.last.started_ns, wish});
        seen.wish = wish;
    }
    return wishes;
}

bool KindRequests::Seen::is_ours() const {
    return !last.stays && is_known(factors);
}

std::string KindRequests::in_words(const Change& change, const Snapshot& snapshot) const {
    return describe(change, snapshot, kinds_.names(), [&](std::size_t thread) {
        const std::uint64_t id = snapshot.threads[thread].id;
        return fmt::format("{} {}", id, threads_.at(static_cast<std::uint32_t>(id)).last.program);
    });
}

}  // namespace tidemill::steer

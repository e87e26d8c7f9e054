#include "tidemill/steer/kind_wishes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemill::steer {

namespace {

Platform platform_of(std::span<const NamedKind> kinds) {
    Platform platform;
    for (const NamedKind& kind : kinds) platform.set(kind.name, static_cast<int>(kind.cores.cores));
    return platform;
}

// A factor needs both times, and is as sure as the less sure one.
bridge::Factor factor(const bridge::KnownTask& task, const std::string& kind, const std::string& reference) {
    const auto there = task.kinds.find(kind);
    const auto here = task.kinds.find(reference);
    if (there == task.kinds.end() || here == task.kinds.end() || here->second.us <= 0) return {};
    return {there->second.us / here->second.us, std::min(there->second.quality, here->second.quality), 0};
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

KindWishes::KindWishes(std::vector<NamedKind> kinds, const bridge::FactorFile& known,
                       const Settings& settings)
    : kinds_(std::move(kinds)), settings_(settings) {
    check_kinds(known, platform_of(kinds_), "the factors");
    for (const bridge::KnownTask& task : known.tasks)
        for (const NamedKind& kind : kinds_)
            factors_[task.name].push_back(factor(task, kind.name, kinds_.front().name));
}

KindDecision KindWishes::look(double now_s, std::span<const ThreadAccount> accounts) {
    ++looks_;
    for (const ThreadAccount& account : accounts) note(now_s, account);
    std::erase_if(threads_, [&](const auto& entry) { return entry.second.look != looks_; });
    KindDecision decision;
    const Snapshot now = snapshot(now_s);
    std::vector<std::string> names;
    for (const NamedKind& kind : kinds_) names.push_back(kind.name);
    for (const Change& change : steer(now, settings_)) {
        apply(change, now, now_s);
        decision.told.push_back(describe(change, now, names));
    }
    decision.wishes = new_wishes();
    return decision;
}

void KindWishes::note(double now_s, const ThreadAccount& account) {
    const auto [entry, is_new] = threads_.try_emplace(account.id);
    Seen& seen = entry->second;
    if (is_new || seen.last.started_ns != account.started_ns) {
        seen = Seen{.last = account, .since_s = now_s};
    } else if (now_s > seen.since_s) {
        const double passed_s = now_s - seen.since_s;
        const double wanted = static_cast<double>(account.wanted_ns - seen.last.wanted_ns) * 1e-9 / passed_s;
        const double news = seen.demand ? 1 - std::exp(-passed_s / kMemory_s) : 1;
        seen.demand = seen.demand.value_or(0) * (1 - news) + std::min(wanted, 1.0) * news;
        seen.kind = seen.wish.value_or(most_time_since(seen.last, account, seen.kind));
        seen.since_s = now_s;
        seen.last = account;
    }
    seen.look = looks_;
}

Snapshot KindWishes::snapshot(double now_s) const {
    Snapshot snapshot;
    for (const NamedKind& kind : kinds_) snapshot.kinds.push_back(kind.cores);
    for (const auto& [id, seen] : threads_)
        if (seen.demand > kNoticeable) snapshot.threads.push_back(state_of(seen, now_s));
    return snapshot;
}

ThreadState KindWishes::state_of(const Seen& seen, double now_s) const {
    ThreadState state{
        .id = seen.last.id, .weight = seen.last.weight, .demand = seen.demand.value_or(0), .kind = seen.kind};
    const auto known = factors_.find(seen.last.name);
    if (known != factors_.end()) state.factors = known->second;
    state.stays = seen.last.stays || known == factors_.end();
    if (seen.moved_s) state.rest_s = now_s - *seen.moved_s;
    return state;
}

void KindWishes::apply(const Change& change, const Snapshot& snapshot, double now_s) {
    for (const Move& move : change.moves) {
        Seen& seen = threads_.at(static_cast<std::uint32_t>(snapshot.threads[move.thread].id));
        seen.kind = move.to;
        seen.moved_s = now_s;
    }
}

std::vector<Wish> KindWishes::new_wishes() {
    std::vector<Wish> wishes;
    for (auto& [id, seen] : threads_) {
        const bool ours = !seen.last.stays && factors_.contains(seen.last.name);
        const bool busy = seen.demand > settings_.least_demand;
        const std::optional<std::size_t> wish = ours && busy ? std::optional(seen.kind) : std::nullopt;
        if (wish != seen.wish) wishes.push_back({id, seen.last.started_ns, wish});
        seen.wish = wish;
    }
    return wishes;
}

}  // namespace tidemill::steer

#include "tidemill/scheduling/static/exact/exact_chain.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "tidemill/scheduling/static/exact/decimal.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::internal {
namespace {

constexpr std::uint64_t kMaxSum = std::uint64_t{1} << 62;
constexpr int kMaxCores = 1 << 30;  // far from overflow when counted in halves

[[noreturn]] void refuse(const std::string& what) {
    throw ScheduleError(fmt::format(
        "{} needs more digits than exact scheduling has (2^53 units of the finest decimal used in "
        "the chain); round the weights, for instance to nanoseconds",
        what));
}

[[noreturn]] void refuse(const ChainTask& task, std::size_t kind) {
    refuse(fmt::format("task '{}': weight {}", task.name, task.weight_us[kind]));
}

// Factor on weights of a way of using cores; nothing where it leaves them alone.
std::optional<Decimal> slowdown_of(const ExactKind& kind, const CorePool& pool, const KindCosts& model) {
    const auto busy = static_cast<int>(pool.units / pool.per_core);
    const double shared = kind.shares_core ? *model.shared_slowdown : 1.0;
    if (slowdown(model, busy) * shared == 1) return std::nullopt;
    const auto factor = product(to_decimal(slowdown(model, busy)), to_decimal(shared));
    if (!factor)
        refuse(fmt::format("model: slowdown {} of '{}'", slowdown(model, busy) * shared, model.kind));
    return factor;
}

using DecimalColumns = std::vector<std::vector<Decimal>>;

DecimalColumns decimal_columns(const Chain& chain, const ExactChain& exact, const CostModel& model) {
    DecimalColumns columns(exact.kinds.size());
    for (std::size_t way = 0; way < exact.kinds.size(); ++way) {
        const ExactKind& kind = exact.kinds[way];
        const auto factor =
            slowdown_of(kind, exact.pools[kind.pool], model.kind(chain.kinds[kind.chain_kind]));
        columns[way].reserve(chain.tasks.size());
        for (const auto& task : chain.tasks) {
            if (task.weight_us[kind.chain_kind] == kCannotRun) {
                columns[way].push_back({});
                continue;
            }
            const auto weight = to_decimal(task.weight_us[kind.chain_kind]);
            const auto slowed = factor ? product(weight, factor) : weight;
            if (!slowed) refuse(task, kind.chain_kind);
            columns[way].push_back(*slowed);
        }
    }
    return columns;
}

int most_decimals(const DecimalColumns& columns) {
    int most = 0;
    for (const auto& column : columns)
        for (const auto& decimal : column) most = std::max(most, decimal.decimals);
    return most;
}

int decimals_of(double value) {
    return to_decimal(value).value_or(Decimal{}).decimals;
}

// Enough for every number of busy cores of every kind, so that all of them count in the same units.
int decimals_of_all(const Chain& chain, const CostModel& model) {
    int weights = 0;
    for (const auto& task : chain.tasks)
        for (const double weight : task.weight_us)
            if (weight != kCannotRun) weights = std::max(weights, decimals_of(weight));
    int slowdowns = 0;
    for (const KindCosts& kind : model.kinds) {
        int own = 0;
        for (const double factor : kind.slowdown) own = std::max(own, decimals_of(factor));
        slowdowns = std::max(slowdowns, own + decimals_of(kind.shared_slowdown.value_or(1)));
    }
    int costs = std::max(decimals_of(model.stage_us), decimals_of(model.hop_us));
    for (const double bytes : model.bytes_at_cut)
        costs = std::max(costs, decimals_of(model.byte_us) + decimals_of(bytes));
    return std::max(weights + slowdowns, costs);
}

void scale_weights(ExactKind& kind, const Chain& chain, const std::vector<Decimal>& weights, int decimals,
                   std::uint64_t most) {
    kind.prefix.assign(weights.size() + 1, 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto units = scaled(weights[i], decimals);
        if (!units) refuse(chain.tasks[i], kind.chain_kind);
        kind.prefix[i + 1] = kind.prefix[i] + *units;
        if (kind.prefix[i + 1] > most)
            throw ScheduleError(
                fmt::format("chain: the weights on '{}' add up to more than 2^{} units of the finest "
                            "decimal used; round the weights, for instance to nanoseconds",
                            chain.kinds[kind.chain_kind], std::bit_width(most) - 1));
    }
}

std::uint64_t scaled_cost(const std::optional<Decimal>& cost, int decimals, std::string_view what) {
    const auto units = cost ? scaled(*cost, decimals) : std::nullopt;
    if (!units) refuse(fmt::format("model: {}", what));
    return *units;
}

void scale_costs(ExactChain& exact, const CostModel& model, int decimals) {
    if (model.stage_us == 0 && model.hop_us == 0 && model.byte_us == 0) return;
    exact.stage_cost = scaled_cost(to_decimal(model.stage_us), decimals, "stage_us");
    const std::uint64_t hop = scaled_cost(to_decimal(model.hop_us), decimals, "hop_us");
    exact.cut_cost.assign(exact.size + 1, 0);
    for (std::size_t cut = 1; cut < exact.size; ++cut) {
        const double bytes = model.bytes_at_cut.empty() ? 0 : model.bytes_at_cut[cut - 1];
        exact.cut_cost[cut] = hop + scaled_cost(product(to_decimal(model.byte_us), to_decimal(bytes)),
                                                decimals, "byte_us times bytes at a cut");
    }
}

std::vector<std::size_t> run_begins(const Chain& chain) {
    std::vector<std::size_t> begins(chain.tasks.size() + 1, 0);
    for (std::size_t i = 0; i < chain.tasks.size(); ++i)
        begins[i + 1] = chain.tasks[i].replicable ? begins[i] : i + 1;
    return begins;
}

std::vector<std::size_t> run_ends(const Chain& chain) {
    std::vector<std::size_t> ends(chain.tasks.size() + 1, chain.tasks.size());
    for (std::size_t i = chain.tasks.size(); i-- > 0;) ends[i] = chain.tasks[i].replicable ? ends[i + 1] : i;
    return ends;
}

void set_able(ExactChain& exact, const Chain& chain) {
    for (ExactKind& kind : exact.kinds) {
        const auto runs = [&](const ChainTask& task) {
            return task.weight_us[kind.chain_kind] != kCannotRun;
        };
        if (std::ranges::all_of(chain.tasks, runs)) continue;
        kind.able_begin.push_back(0);
        for (std::size_t i = 0; i < exact.size; ++i)
            kind.able_begin.push_back(runs(chain.tasks[i]) ? kind.able_begin.back() : i + 1);
    }
}

void check_able(const ExactChain& exact, const Chain& chain, const Platform& platform) {
    for (std::size_t i = 0; i < exact.size; ++i) {
        bool runs = false;
        for (std::size_t kind = 0; kind < exact.kinds.size(); ++kind) runs = runs || exact.runs(kind, i);
        if (!runs)
            throw ScheduleError(fmt::format(
                "platform: task '{}' runs on none of the cores {}; add one of a kind that it has a "
                "weight for",
                chain.tasks[i].name, to_string(platform)));
    }
}

// Whole cores first; halves, where the model lets two stages share a core, draw from the same pool.
void add_kind(ExactChain& exact, std::size_t chain_kind, int count, bool shared) {
    const std::size_t per_core = shared ? 2 : 1;
    const std::size_t pool = exact.pools.size();
    exact.pools.push_back(
        {chain_kind, static_cast<std::size_t>(count) * per_core, per_core, exact.kinds.size()});
    exact.kinds.push_back({.chain_kind = chain_kind, .cores = count, .pool = pool, .share = per_core});
    if (shared)
        exact.kinds.push_back(
            {.chain_kind = chain_kind, .cores = 2 * count, .pool = pool, .shares_core = true});
}

void add_kinds(ExactChain& exact, const Chain& chain, const Platform& platform, const CostModel& model) {
    for (const auto& [kind, count] : platform.kinds()) {
        if (count < 0 || count >= kMaxCores)
            throw ScheduleError(fmt::format("platform: {} cores of kind '{}'; expected at least 0{}", count,
                                            kind, count < 0 ? "" : " and fewer than 2^30"));
        if (count > 0)
            add_kind(exact, chain.kind_index(kind), count, model.kind(kind).shared_slowdown.has_value());
    }
    if (exact.kinds.empty())
        throw ScheduleError("platform: no cores; give at least one, for instance \"big=1\"");
}

// Threads that feed a device have no core of their own, and want batches.
void let_mix(ExactChain& exact, const Chain& chain, std::size_t most_letters) {
    if (exact.pools.size() > kMostMixedKinds)
        throw ScheduleError(fmt::format("mixed: {} kinds of cores, and at most {} may be mixed; give fewer",
                                        exact.pools.size(), kMostMixedKinds));
    exact.most_letters = most_letters;
    for (CorePool& pool : exact.pools) pool.mixes = !chain.is_device(chain.kinds[pool.chain_kind]);
}

}  // namespace

std::uint64_t ExactChain::total_cores() const {
    std::uint64_t total = 0;
    for (const auto& pool : pools) total += pool.units / pool.per_core;
    return total;
}

ExactChain exact_chain(const Chain& chain, const Platform& platform, const CostModel& model,
                       std::size_t most_letters) {
    check(chain);
    check(model, chain);
    ExactChain exact;
    exact.size = chain.tasks.size();
    add_kinds(exact, chain, platform, model);
    if (most_letters > 0) let_mix(exact, chain, most_letters);
    exact.run_begin = run_begins(chain);
    exact.run_end = run_ends(chain);
    set_able(exact, chain);
    check_able(exact, chain, platform);
    const DecimalColumns columns = decimal_columns(chain, exact, model);
    const int decimals =
        model.has_published_periods() ? most_decimals(columns) : decimals_of_all(chain, model);
    if (decimals > kMaxDecimals) refuse("model: its costs and slowdowns with the chain's weights");
    exact.units_per_us = power_of_ten(decimals);
    for (std::size_t kind = 0; kind < exact.kinds.size(); ++kind)
        scale_weights(exact.kinds[kind], chain, columns[kind], decimals,
                      kMaxSum / (most_letters > 0 ? kMostLetters : exact.kinds[kind].share));
    scale_costs(exact, model, decimals);
    return exact;
}

}  // namespace tidemill::internal

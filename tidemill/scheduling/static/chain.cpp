#include "tidemill/scheduling/static/chain.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemill {
namespace {

void check_unique_kinds(const Chain& chain) {
    if (chain.kinds.size() > internal::kMaxKinds)
        throw ScheduleError(fmt::format("chain: {} core kinds; at most {} are known", chain.kinds.size(),
                                        internal::kMaxKinds));
    std::unordered_set<std::string_view> seen;
    for (const auto& kind : chain.kinds) {
        if (kind.empty())
            throw ScheduleError("chain: a core kind has no name; name it, for instance \"big\"");
        if (!seen.insert(kind).second)
            throw ScheduleError(fmt::format("chain: core kind '{}' is listed twice; keep one", kind));
    }
}

void check_weights(const Chain& chain, const ChainTask& task) {
    if (task.weight_us.size() != chain.kinds.size())
        throw ScheduleError(fmt::format("task '{}': {} weights, expected {} (one for each of: {})", task.name,
                                        task.weight_us.size(), chain.kinds.size(),
                                        fmt::join(chain.kinds, ", ")));
    for (std::size_t kind = 0; kind < chain.kinds.size(); ++kind) {
        const double weight = task.weight_us[kind];
        if (weight != kCannotRun && (!std::isfinite(weight) || weight < 0))
            throw ScheduleError(
                fmt::format("task '{}': weight {} on '{}'; expected a finite number of "
                            "microseconds, at least 0",
                            task.name, weight, chain.kinds[kind]));
    }
    if (std::ranges::all_of(task.weight_us, [](double weight) { return weight == kCannotRun; }))
        throw ScheduleError(
            fmt::format("task '{}': cannot run on any kind of cores; give it a weight on one "
                        "of: {}",
                        task.name, fmt::join(chain.kinds, ", ")));
}

void check_batches(const Chain& chain, const ChainTask& task) {
    for (const BatchCost& cost : task.batches) {
        const std::size_t kind = chain.kind_index(cost.kind);
        const auto is_cost = [](double value) { return std::isfinite(value) && value >= 0; };
        const BatchParts& alone = cost.alone;
        const std::array costs{cost.batch_us,         cost.frame_us,         cost.frames,
                               cost.host_us,          alone.copies.batch_us, alone.copies.frame_us,
                               alone.kernel.batch_us, alone.kernel.frame_us, alone.frame_bytes,
                               cost.in.batch_us,      cost.in.frame_us,      cost.out.batch_us,
                               cost.out.frame_us};
        if (!std::ranges::all_of(costs, is_cost) || cost.most_frames < 1)
            throw ScheduleError(
                fmt::format("task '{}': the cost of batches on '{}' must be finite numbers of "
                            "at least 0, of at least 1 frame",
                            task.name, cost.kind));
        if (cost.in.batch_us + cost.out.batch_us > cost.batch_us ||
            cost.in.frame_us + cost.out.frame_us > cost.frame_us)
            throw ScheduleError(
                fmt::format("task '{}': neighbours on '{}' save more of its batches than these cost",
                            task.name, cost.kind));
        if (task.weight_us[kind] == kCannotRun)
            throw ScheduleError(
                fmt::format("task '{}': has a cost of batches on '{}', but no weight there; give both",
                            task.name, cost.kind));
    }
}

int parse_count(std::string_view text, std::string_view whole) {
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size() || count < 0)
        throw ScheduleError(
            fmt::format("cores \"{}\": '{}' is not a number of cores; write for instance \"big=2,little=4\"",
                        whole, text));
    return count;
}

CoreCount parse_core_count(std::string_view item, std::string_view whole) {
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
        throw ScheduleError(fmt::format(
            "cores \"{}\": '{}' is not KIND=COUNT; write for instance \"big=2,little=4\"", whole, item));
    return {std::string(item.substr(0, equals)), parse_count(item.substr(equals + 1), whole)};
}

}  // namespace

std::size_t Chain::kind_index(std::string_view kind) const {
    const auto found = std::find(kinds.begin(), kinds.end(), kind);
    if (found == kinds.end())
        throw ScheduleError(fmt::format("the chain has no weights for core kind '{}', only for: {}", kind,
                                        fmt::join(kinds, ", ")));
    return static_cast<std::size_t>(found - kinds.begin());
}

bool Chain::is_device(std::string_view kind) const {
    return std::ranges::any_of(tasks, [&](const ChainTask& task) { return batch_cost(task, kind); });
}

std::vector<CoreCount> Platform::kinds() const {
    std::vector<CoreCount> all{{"big", big}, {"little", little}};
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

int Platform::count(std::string_view kind) const {
    if (kind == "big") return big;
    if (kind == "little") return little;
    const auto found = std::ranges::find(others, kind, &CoreCount::kind);
    return found == others.end() ? 0 : found->count;
}

void Platform::set(std::string_view kind, int count) {
    const auto found = std::ranges::find(others, kind, &CoreCount::kind);
    if (kind == "big")
        big = count;
    else if (kind == "little")
        little = count;
    else if (found == others.end())
        others.push_back({std::string(kind), count});
    else
        found->count = count;
}

Platform parse_platform(std::string_view text) {
    Platform platform;
    std::unordered_set<std::string> seen;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        const CoreCount item = parse_core_count(text.substr(begin, end - begin), text);
        if (seen.size() == internal::kMaxKinds)
            throw ScheduleError(fmt::format("cores: more than {} kinds; give fewer", internal::kMaxKinds));
        if (!seen.insert(item.kind).second)
            throw ScheduleError(fmt::format("cores \"{}\": '{}' is given twice; keep one", text, item.kind));
        platform.set(item.kind, item.count);
        begin = end + 1;
    }
    return platform;
}

std::string to_string(const Platform& platform) {
    std::string text;
    for (const auto& [kind, count] : platform.kinds())
        if (count > 0) text += fmt::format("{}{}={}", text.empty() ? "" : ",", kind, count);
    return text;
}

std::string in_words(const std::vector<CoreCount>& cores) {
    std::string text;
    for (const auto& [kind, count] : cores)
        if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
    return text;
}

const BatchCost* batch_cost(const ChainTask& task, std::string_view kind) {
    const auto found = std::ranges::find(task.batches, kind, &BatchCost::kind);
    return found == task.batches.end() ? nullptr : &*found;
}

namespace {

void check_spread(const Chain& chain, const ChainTask& task) {
    const bool fits = task.spread.empty() || task.spread.size() == chain.kinds.size();
    const bool is_real = std::ranges::all_of(task.spread, [](const WeightSpread& spread) {
        return std::ranges::all_of(std::array{spread.error_us, spread.p99_us, spread.once_us},
                                   [](double us) { return std::isfinite(us) && us >= 0; });
    });
    if (fits && is_real) return;
    throw ScheduleError(fmt::format(
        "task '{}': how sure its weights are is said for {} kinds of {}, in numbers of at least 0: give one "
        "for each kind, or none",
        task.name, task.spread.size(), chain.kinds.size()));
}

}  // namespace

void check(const Chain& chain) {
    if (chain.tasks.empty()) throw ScheduleError("chain: no tasks; a chain has at least one");
    if (chain.kinds.empty()) throw ScheduleError("chain: no core kinds; profile the tasks on at least one");
    check_unique_kinds(chain);
    std::unordered_set<std::string_view> names;
    for (const auto& task : chain.tasks) {
        if (!names.insert(task.name).second)
            throw ScheduleError(fmt::format("chain: two tasks are named '{}'; rename one", task.name));
        check_weights(chain, task);
        check_batches(chain, task);
        check_spread(chain, task);
        if (!std::isfinite(task.bytes_after) || task.bytes_after < 0)
            throw ScheduleError(fmt::format("task '{}': {} bytes behind it; expected at least 0", task.name,
                                            task.bytes_after));
    }
}

std::string missing_words(const Chain& chain) {
    std::vector<std::string_view> names;
    for (const auto& task : chain.tasks)
        if (task.lacks_word) names.push_back(task.name);
    if (names.empty()) return "";
    return fmt::format(
        "sequential only for want of a word: {} (say pure, if nothing that they refer to changes)\n",
        fmt::join(names, ", "));
}

Chain rounded(Chain chain) {
    for (auto& task : chain.tasks) {
        for (double& weight : task.weight_us) weight = std::nearbyint(weight * 1000) / 1000;
        task.bytes_after = std::nearbyint(task.bytes_after);
        for (WeightSpread& spread : task.spread)
            for (double* const us : {&spread.error_us, &spread.p99_us, &spread.once_us})
                *us = std::nearbyint(*us * 1000) / 1000;
    }
    return chain;
}

}  // namespace tidemill

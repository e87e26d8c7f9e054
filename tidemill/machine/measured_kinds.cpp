#include "tidemill/machine/measured_kinds.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/internal/core_kinds.hpp"

namespace tidemill {

namespace {

using CoreGroup = std::vector<std::size_t>;  // indices into Topology::cores
using Speed = std::function<double(std::size_t core)>;

// Neighbours in the order of speed that are near each other are one group, however far its ends are apart.
std::vector<CoreGroup> parted(CoreGroup cores, const Speed& speed, double gap) {
    std::ranges::stable_sort(cores, std::greater{}, speed);
    std::vector<CoreGroup> groups;
    for (const std::size_t core : cores) {
        if (groups.empty() || speed(core) < (1 - gap) * speed(groups.back().back())) groups.emplace_back();
        groups.back().push_back(core);
    }
    return groups;
}

std::vector<CoreGroup> groups_by_speed(std::span<const MeasuredCore> measured, double gap) {
    CoreGroup all(measured.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto compute = [&](std::size_t core) { return measured[core].best.compute; };
    const auto memory = [&](std::size_t core) { return measured[core].best.memory; };
    std::vector<CoreGroup> groups;
    for (const CoreGroup& alike : parted(all, compute, gap))
        for (CoreGroup& group : parted(alike, memory, gap)) {
            std::ranges::sort(group);
            groups.push_back(std::move(group));
        }
    return groups;
}

std::string spelled(const Topology& topology, const std::vector<CoreGroup>& groups) {
    std::string text;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        std::vector<int> numbers;
        for (const std::size_t core : groups[group])
            for (const Pu& pu : topology.cores[core].pus) numbers.push_back(pu.number);
        text += fmt::format("{}{}={}", group > 0 ? "," : "", internal::default_kind_name(group),
                            internal::number_ranges("", numbers));
    }
    return text;
}

std::string named(const Topology& topology, const CoreGroup& group) {
    std::vector<int> numbers;
    for (const std::size_t core : group) numbers.push_back(topology.cores[core].number);
    return internal::number_ranges("core", numbers);
}

CoreSpeed mean_of(std::span<const MeasuredCore> measured, const CoreGroup& group) {
    CoreSpeed mean;
    for (const std::size_t core : group) {
        mean.compute += measured[core].best.compute / static_cast<double>(group.size());
        mean.memory += measured[core].best.memory / static_cast<double>(group.size());
    }
    return mean;
}

/// Words on where measured groups are not the kinds that were declared.
class Reasons {
  public:
    Reasons(const Topology& told, std::span<const MeasuredCore> measured)
        : told_(told), measured_(measured) {}

    std::vector<std::string> of(const std::vector<CoreGroup>& groups) const {
        std::vector<std::string> because;
        for (const CoreGroup& group : groups)
            if (first_kind(group) != last_kind(group))
                because.push_back(fmt::format("{} distinguishes {}, and they are equally fast",
                                              told_.kinds_from, named(told_, group)));
        for (std::size_t slower = 1; slower < groups.size(); ++slower) {
            const CoreGroup& fast = groups[slower - 1];
            const CoreGroup& slow = groups[slower];
            if (first_kind(slow) < last_kind(fast))
                because.push_back(told("takes {} for faster than {}", slow, fast));
            else if (first_kind(slow) == last_kind(fast))
                because.push_back(told("calls {} and {} alike", slow, fast));
        }
        return because;
    }

  private:
    std::string told(fmt::format_string<std::string, std::string> words, const CoreGroup& slow,
                     const CoreGroup& fast) const {
        const CoreSpeed here = mean_of(measured_, slow);
        const CoreSpeed there = mean_of(measured_, fast);
        return fmt::format(
            "{} {}, and the first have {:.2f} of the others' speed at computing, {:.2f} at memory",
            told_.kinds_from, fmt::format(words, named(told_, slow), named(told_, fast)),
            here.compute / there.compute, here.memory / there.memory);
    }
    // The fastest and the slowest of the declared kinds in a group of cores.
    std::size_t first_kind(const CoreGroup& group) const { return std::ranges::min(kinds_of(group)); }
    std::size_t last_kind(const CoreGroup& group) const { return std::ranges::max(kinds_of(group)); }
    std::vector<std::size_t> kinds_of(const CoreGroup& group) const {
        std::vector<std::size_t> kinds;
        for (const std::size_t core : group) kinds.push_back(told_.cores[core].kind);
        return kinds;
    }

    const Topology& told_;
    std::span<const MeasuredCore> measured_;
};

}  // namespace

MeasuredKinds kinds_by_speed(const Topology& told, std::span<const MeasuredCore> measured) {
    constexpr double kLeastGap = 0.1;     // less is a speed bin
    constexpr double kMostSpread = 0.15;  // three times as much is no gap that says anything
    std::vector<CoreGroup> as_told;
    for (const CoreKind& kind : told.kinds) as_told.push_back(kind.cores);
    const double spread = std::ranges::max(measured, {}, &MeasuredCore::spread).spread;
    if (spread > kMostSpread)
        return {
            spelled(told, as_told),
            false,
            {fmt::format("measurements of one core differ by {:.0f} %: the kinds of {} stay; try again when "
                         "the machine is idle",
                         100 * spread, told.kinds_from)}};
    const std::vector<CoreGroup> groups = groups_by_speed(measured, std::max(kLeastGap, 3 * spread));
    if (groups == as_told)
        return {spelled(told, groups), false, {"these are the kinds of " + told.kinds_from}};
    return {spelled(told, groups), true, Reasons(told, measured).of(groups)};
}

}  // namespace tidemill

#include "tidemill/scheduling/dynamic/policy.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "tidemill/scheduling/dynamic/apriority.hpp"
#include "tidemill/scheduling/dynamic/botlev.hpp"
#include "tidemill/scheduling/dynamic/crit.hpp"
#include "tidemill/scheduling/dynamic/fifo.hpp"
#include "tidemill/scheduling/dynamic/gpriority.hpp"
#include "tidemill/scheduling/dynamic/in_order.hpp"
#include "tidemill/scheduling/dynamic/lifo.hpp"
#include "tidemill/scheduling/dynamic/mchild.hpp"
#include "tidemill/scheduling/dynamic/mdesc.hpp"
#include "tidemill/scheduling/dynamic/oldest.hpp"
#include "tidemill/scheduling/dynamic/policy_error.hpp"
#include "tidemill/scheduling/dynamic/ranked.hpp"
#include "tidemill/scheduling/dynamic/rule_list.hpp"
#include "tidemill/scheduling/dynamic/toplev.hpp"
#include "tidemill/scheduling/dynamic/user_priority.hpp"
#include "tidemill/scheduling/dynamic/wave.hpp"

namespace tidemill::policy {

namespace {

using Workers = std::span<const KindId>;

// How a rule is made: alone, with a queue compiled for it, and as one of a list.
struct Maker {
    PolicyName named;
    std::unique_ptr<Policy> (*alone)(Workers workers, const Adapting& adapting);
    std::unique_ptr<AnyRule> (*in_list)(Workers workers, const Adapting& adapting);
};

template <class R>
R make_rule(Workers workers, const Adapting& adapting) {
    if constexpr (std::is_constructible_v<R, unsigned, const Adapting&>) {
        return R(static_cast<unsigned>(workers.size()), adapting);
    } else {
        return R();
    }
}

template <class R>
std::unique_ptr<Policy> make_ranked(Workers workers, const Adapting& adapting) {
    return std::make_unique<Ranked<R>>(workers, make_rule<R>(workers, adapting));
}

template <class R>
std::unique_ptr<AnyRule> make_in_list(Workers workers, const Adapting& adapting) {
    return std::make_unique<AnyRuleOf<R>>(make_rule<R>(workers, adapting));
}

template <bool kLastFirst>
std::unique_ptr<Policy> make_in_order(Workers workers, const Adapting&) {
    return std::make_unique<InOrder<kLastFirst>>(workers);
}

template <class R>
constexpr Maker maker(std::string_view name, std::string_view issues_first) {
    return {{name, issues_first}, make_ranked<R>, make_in_list<R>};
}

// To add a policy, add its line here.
constexpr std::array kMakers{
    Maker{{"fifo", "ready first"}, make_in_order<false>, make_in_list<Fifo>},
    Maker{{"lifo", "ready last"}, make_in_order<true>, make_in_list<Lifo>},
    maker<Oldest>("oldest", "created first"),
    maker<Toplev>("toplev", "least top level: edges on a longest path from a source"),
    maker<Botlev>("botlev", "largest bottom level: edges on a longest path to a sink"),
    maker<Crit>("crit", "largest top + bottom level"),
    maker<Mchild>("mchild", "most children"),
    maker<Mdesc>("mdesc", "most descendants"),
    maker<Wave>("wave", "least iteration + top level of the task type in it"),
    maker<Apriority>("apriority", "oldest, bottlenecks of a stream raised by iterations"),
    maker<Gpriority>("gpriority", "oldest, bottlenecks of any program raised"),
    maker<UserPriority>("priority", "the greatest priority given by the program"),
};

constexpr auto kNames = [] {
    std::array<PolicyName, kMakers.size()> names;
    std::ranges::transform(kMakers, names.begin(), &Maker::named);
    return names;
}();

const Maker& maker_of(std::string_view name) {
    const auto* found = std::ranges::find(kMakers, name, [](const Maker& maker) { return maker.named.name; });
    if (found != kMakers.end()) return *found;
    std::string known;
    for (const PolicyName& each : kNames) known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
    throw PolicyError(
        fmt::format("'{}' is not a policy; take one of {}, or a list with commas", name, known));
}

std::vector<const Maker*> makers_of(std::string_view names) {
    std::vector<const Maker*> makers;
    for (std::size_t begin = 0; begin <= names.size();) {
        const std::size_t end = std::min(names.find(',', begin), names.size());
        makers.push_back(&maker_of(names.substr(begin, end - begin)));
        begin = end + 1;
    }
    if (makers.size() <= RuleList::kLongest) return makers;
    throw PolicyError(fmt::format("'{}' lists {} policies; at most {} can break each other's ties", names,
                                  makers.size(), RuleList::kLongest));
}

}  // namespace

std::unique_ptr<Policy> make_policy(std::string_view names, unsigned workers, const Adapting& adapting) {
    return make_policy(names, std::vector<KindId>(workers), adapting);
}

std::unique_ptr<Policy> make_policy(std::string_view names, Workers workers, const Adapting& adapting) {
    if (std::ranges::any_of(workers,
                            [](KindId kind) { return kind >= std::numeric_limits<KindSet>::digits; }))
        throw PolicyError("kinds of cores are numbered from 0 to 31");
    const std::vector<const Maker*> makers = makers_of(names);
    if (makers.size() == 1) return makers.front()->alone(workers, adapting);
    std::vector<std::unique_ptr<AnyRule>> rules;
    for (const Maker* each : makers) rules.push_back(each->in_list(workers, adapting));
    return std::make_unique<Ranked<RuleList>>(workers, RuleList(std::move(rules)));
}

std::span<const PolicyName> policies() {
    return kNames;
}

}  // namespace tidemill::policy

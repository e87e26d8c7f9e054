#include "tidemill/steer/steering.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/steer/internal/assignment_search.hpp"

namespace tidemill::steer {

const char* to_string(Reason reason) {
    switch (reason) {
        case Reason::speed:
            return "speed";
        case Reason::no_cores:
            return "no cores";
        case Reason::fairness:
            return "fairness";
        case Reason::learning:
            return "learning";
    }
    return "";
}

std::vector<Change> steer(const Snapshot& snapshot, const Settings& settings) {
    if (snapshot.kinds.size() < 2) return {};
    internal::AssignmentSearch search(snapshot, settings);
    std::vector<Change> changes = search.worthwhile_changes();
    if (changes.empty() && settings.learns) {
        if (auto trial = search.trial()) changes.push_back(*trial);
    }
    return changes;
}

std::vector<Speed> speeds(const Snapshot& snapshot) {
    const internal::Crowd crowd(snapshot, {});
    std::vector<Speed> speeds(crowd.threads());
    const auto members = internal::members_by_kind(snapshot);
    for (std::size_t kind = 0; kind < members.size(); ++kind) {
        const std::vector<double> now = crowd.speeds(kind, members[kind]);
        for (std::size_t at = 0; at < now.size(); ++at) speeds[members[kind][at]].now = now[at];
    }
    for (std::size_t thread = 0; thread < speeds.size(); ++thread)
        speeds[thread].alone = crowd.speed_alone(thread);
    return speeds;
}

std::string describe(const Change& change, const Snapshot& snapshot, std::span<const std::string> kind_names,
                     const std::function<std::string(std::size_t thread)>& name_of) {
    const internal::Crowd crowd(snapshot, {});
    std::string text = change.moves.size() == 1 ? "move:" : "exchange:";
    for (const Move& move : change.moves) {
        const double loss = std::exp(crowd.log_factor(move.thread, std::max(move.from, move.to)) -
                                     crowd.log_factor(move.thread, std::min(move.from, move.to)));
        text += fmt::format("{} {} to {} ({:.2f} times longer on {})",
                            &move == change.moves.data() ? "" : ",", name_of(move.thread),
                            kind_names[move.to], loss, kind_names[std::max(move.from, move.to)]);
    }
    return text + fmt::format(", for {}", to_string(change.reason));
}

}  // namespace tidemill::steer

#include <algorithm>
#include <map>
#include <set>

#include "tidemill/steer/journal.hpp"

namespace tidemill::steer {

bool is_result_of(const CpuSet& wish, const CpuSet& set, const CpuSet& allowed) {
    return set == wish || set == both(wish, allowed);
}

namespace {

constexpr int kMostPasses = 10;

/// A set that somebody was let run on from a time on.
struct Given {
    CpuSet set;
    std::uint64_t since_ticks;
};
using Sets = std::vector<Given>;

void add(Sets& sets, const SteeredThread& thread) {
    for (const CpuSet& set : thread.sets) sets.push_back({set, thread.since_ticks});
}

/// Restores the threads of a journal, then all that their processes and these processes' children have begun:
/// a thread begins with the affinity of the one that made it.
class Restoring {
  public:
    Restoring(const Journal& journal, System& system)
        : journal_(journal), system_(system), possible_(system.possible()) {}

    Restored run() {
        for (const SteeredThread& thread : journal_.threads) restore_named(thread);
        // A thread that was begun while we looked is found in the next pass: by then its maker is restored.
        int before = -1;
        for (int pass = 0; pass < kMostPasses && before != result_.restored; ++pass) {
            before = result_.restored;
            adopt_children();
            for (const auto& [number, sets] : sets_) restore_others(number, sets);
        }
        return result_;
    }

  private:
    void restore_named(const SteeredThread& thread) {
        if (thread.session > 0) add(sessions_[thread.session], thread);
        const auto process = system_.hold(thread.process);
        const auto held = process ? process->hold(thread.thread) : nullptr;
        const auto facts = held ? held->facts() : std::nullopt;
        const auto now = held ? held->affinity() : std::nullopt;
        if (!facts || !now || facts->start_ticks != thread.start_ticks) {
            ++result_.gone;
            return;
        }
        add(sets_[thread.process], thread);
        named_.insert(thread.thread);
        const CpuSet allowed = process->allowed().value_or(possible_);
        const auto came_of = [&](const CpuSet& set) { return is_result_of(set, *now, allowed); };
        if (std::ranges::any_of(thread.sets, came_of)) {
            note(held->set_affinity(possible_));
        } else {
            ++(came_of(thread.before) ? result_.restored : result_.changed);
        }
    }

    void note(Outcome outcome) {
        const bool refused = outcome == Outcome::refused || outcome == Outcome::impossible;
        ++(outcome == Outcome::done ? result_.restored : refused ? result_.refused : result_.gone);
    }

    void adopt_children() {
        for (const int number : system_.processes()) {
            if (sets_.contains(number)) continue;
            const auto process = system_.hold(number);
            const auto main = process ? process->hold(number) : nullptr;
            const auto facts = main ? main->facts() : std::nullopt;
            if (!facts) continue;
            const auto parent = sets_.find(facts->parent);
            const auto session = sessions_.find(facts->session);
            if (parent != sets_.end()) {
                sets_[number] = parent->second;
            } else if (facts->parent == kInit && session != sessions_.end()) {
                sets_[number] = session->second;  // an orphan
            }
        }
    }

    void restore_others(int number, const Sets& sets) {
        const auto process = system_.hold(number);
        if (!process) return;
        const CpuSet allowed = process->allowed().value_or(possible_);
        for (const int thread : process->threads()) {
            const auto held = named_.contains(thread) ? nullptr : process->hold(thread);
            const auto facts = held ? held->facts() : std::nullopt;
            const auto now = held ? held->affinity() : std::nullopt;
            if (!facts || !now) continue;
            const bool has_it_from_us = std::ranges::any_of(sets, [&](const Given& given) {
                return facts->start_ticks >= given.since_ticks && is_result_of(given.set, *now, allowed);
            });
            if (has_it_from_us) note(held->set_affinity(possible_));
        }
    }

    static constexpr int kInit = 1;

    const Journal& journal_;
    System& system_;
    CpuSet possible_;
    std::map<int, Sets> sets_;      // by process
    std::map<int, Sets> sessions_;  // by session
    std::set<int> named_;           // threads
    Restored result_;
};

}  // namespace

Restored restore(const Journal& journal, System& system) {
    if (journal.threads.empty()) return {};
    if (journal.boot_id != system.boot_id()) return {.gone = static_cast<int>(journal.threads.size())};
    return Restoring(journal, system).run();
}

}  // namespace tidemill::steer

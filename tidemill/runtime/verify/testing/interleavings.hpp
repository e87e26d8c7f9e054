#pragma once

#include <array>
#include <bit>
#include <bitset>
#include <cstring>
#include <optional>
#include <random>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tidemill/runtime/verify/testing/explored_memory.hpp"
#include "tidemill/runtime/verify/testing/thread_table.hpp"
#include "tidemill/runtime/verify/testing/visited.hpp"

namespace tidemill::explore {

/// Result of a search.
struct Verdict {
    std::size_t states = 0;
    std::string fault{};  // the first one; empty when there is none
    std::vector<std::string> trace{};
};

/// Settings of a search besides the threads.
struct Settings {
    bool wakes_by_itself = false;  ///< a sleeper may wake although nobody has woken it
    bool wakes_are_seen =
        false;  ///< a thread that is not asleep yet sees the word as it was for the one that has woken
    bool looks_again = false;  ///< a look at what the thread has just seen is a move of its own, too
};

/// The interleavings of some threads over one memory.
///
/// A `Judge` has a Ledger of bytes, in which note() enters the threads' reports, and end() what is left when
/// all are done; both throw a Violation.
///
/// Only what threads may notice of each other is a move of its own: a word that no thread changes while
/// another looks at it is nobody's business, nor are operations on it of which the judge says that they are
/// claims, whose order does not matter while nobody does anything else there. Which words are shared is found
/// on the way: with each new one the search begins anew.
template <typename Memory, typename Judge>
class Interleavings {
  public:
    Interleavings(std::vector<ThreadTable>& threads, const std::vector<Word>& initial, const Judge& judge,
                  Settings settings = {})
        : threads_(threads),
          initial_(initial),
          judge_(judge),
          settings_(settings),
          shared_(initial.size(), false),
          slept_on_(initial.size(), false) {}

    /// Goes through all of them.
    Verdict search() {
        Verdict verdict;
        do {
            uses_.assign(initial_.size(), {});
            visited_ = {};
            path_.clear();
            verdict = search_once();
        } while (std::exchange(found_more_, false));
        return verdict;
    }

    /// Goes through some, drawn by chance.
    Verdict sample(std::uint64_t seed, int runs) {
        std::mt19937_64 random(seed);
        shared_.assign(initial_.size(), true);
        slept_on_ = shared_;
        uses_.assign(initial_.size(), {});
        Verdict verdict;
        for (int run = 0; run < runs && verdict.fault.empty(); ++run) {
            path_.clear();
            verdict.fault = fault_of([&] { wander(random); });
            verdict.states += path_.size();
            if (!verdict.fault.empty()) verdict.trace = trace();
        }
        return verdict;
    }

  private:
    using Ledger = typename Judge::Ledger;
    using Row = ThreadTable::Row;

    struct State {
        std::array<Row, kMostThreads> rows{};
        std::uint32_t asleep = 0;
        Ledger ledger{};
        Memory memory;
    };
    struct Move {
        std::size_t thread = 0;
        std::size_t way = 0;
    };
    struct Branch {
        State state;
        Move next{};
        std::optional<Move> taken{};
    };
    struct Uses {  // by which threads, as bits
        std::uint32_t looks = 0;
        std::uint32_t changes = 0;
        std::uint32_t claims = 0;  // in no order among them
    };

    template <typename Search>
    std::string fault_of(Search search) {
        try {
            search();
        } catch (const Violation& violation) {
            return violation.what();
        }
        return {};
    }

    Verdict search_once() {
        Verdict verdict;
        verdict.fault = fault_of([this] { go_through(); });
        if (!verdict.fault.empty()) verdict.trace = trace();
        verdict.states = visited_.size();
        return verdict;
    }

    void go_through() {
        visit(start());
        while (!path_.empty() && !found_more_) {
            Branch& branch = path_.back();
            branch.taken = next_move(branch.state, branch.next);
            if (!branch.taken) {
                path_.pop_back();
                continue;
            }
            branch.next = {branch.taken->thread, branch.taken->way + 1};
            State next = branch.state;
            move(next, *branch.taken);
            visit(std::move(next));
        }
    }

    void visit(State state) {
        settle(state);
        state.memory.tidy();
        if (!visited_.insert(fingerprint(state))) return;
        check_progress(state);
        path_.push_back({std::move(state)});
    }

    void wander(std::mt19937_64& random) {
        State state = start();
        while (true) {
            state.memory.tidy();
            check_progress(state);
            std::vector<Move> moves;
            std::optional<Move> found = next_move(state, {});
            for (; found; found = next_move(state, {found->thread, found->way + 1})) moves.push_back(*found);
            if (moves.empty()) return;
            const Move chosen = moves[random() % moves.size()];
            path_.push_back({state, {}, chosen});
            move(state, chosen);
        }
    }

    using Words = std::bitset<kMostLocations>;

    // A thread whose looks, taken now, lead it to wait, does wait: it will look at all of them once more.
    void settle(State& state) {
        if (settings_.looks_again || !Memory::kSeesLatest) return;
        for (std::size_t t = 0; t < threads_.size(); ++t) {
            const Operation& next = operation(state, t);
            const bool looks = next.act == Act::load || (next.act == Act::yield && sees_news(state, t));
            if (!looks || is_asleep(state, t)) continue;
            Words first;
            Words again;
            const std::optional<Row> waits = look_on(state, t, state.rows[t], first);
            if (waits && look_on(state, t, *waits, again) && (first & ~again).none()) state.rows[t] = *waits;
        }
    }

    // Where it yields next, if it does nothing but look until then.
    std::optional<Row> look_on(const State& state, std::size_t t, Row row, Words& words) {
        ThreadTable& thread = threads_[t];
        if (thread.operation(row).act == Act::yield) row = thread.next(row, 0);
        while (thread.operation(row).act == Act::load) {
            note_use(t, thread.operation(row));
            const Location at = thread.operation(row).at;
            words.set(at);
            row = thread.next(row, state.memory.latest(at));
        }
        if (thread.operation(row).act != Act::yield) return {};
        return row;
    }

    State start() {
        State state{.memory = Memory(initial_, threads_.size())};
        for (std::size_t t = 0; t < threads_.size(); ++t) {
            state.rows[t] = ThreadTable::kStart;
            run_unnoticed(state, t);
        }
        return state;
    }

    // A thread that sleeps and wakes by itself makes no progress.
    void check_progress(const State& state) const {
        bool all_done = true;
        for (std::size_t t = 0; t < threads_.size(); ++t) {
            if (can_move(state, t)) return;
            all_done &= operation(state, t).act == Act::done;
        }
        if (!all_done) throw Violation("deadlock");
        judge_.end(state.ledger, state.memory);
    }

    std::optional<Move> next_move(const State& state, Move from) const {
        for (; from.thread < threads_.size(); from = {from.thread + 1, 0}) {
            if (from.way < ways(state, from.thread)) return from;
        }
        return {};
    }

    std::size_t ways(const State& state, std::size_t t) const {
        if (is_asleep(state, t)) return settings_.wakes_by_itself ? 1 : 0;
        return can_move(state, t) ? state.memory.ways(t, operation(state, t)) : 0;
    }

    const Operation& operation(const State& state, std::size_t t) const {
        return threads_[t].operation(state.rows[t]);
    }
    static bool is_asleep(const State& state, std::size_t t) { return state.asleep >> t & 1; }

    bool can_move(const State& state, std::size_t t) const {
        if (is_asleep(state, t)) return false;
        const Operation& next = operation(state, t);
        if (next.act == Act::lock) return state.memory.latest(next.at) == 0;
        if (next.act == Act::yield) return sees_news(state, t);
        return next.act != Act::done;
    }

    // Spinning until something changes is waiting for it: a state in which all spin is a livelock.
    bool sees_news(const State& state, std::size_t t) const {
        const auto& reads = threads_[t].reads(state.rows[t]);
        const auto is_news = [&](const auto& read) { return state.memory.latest(read.first) != read.second; };
        return reads.empty() || std::ranges::any_of(reads, is_news);
    }

    void move(State& state, Move chosen) {
        const std::size_t t = chosen.thread;
        if (is_asleep(state, t)) return awake(state, t);
        Operation done = operation(state, t);
        Word answer = act(state, t, chosen.way);
        if (is_asleep(state, t)) return;
        advance(state, t, answer);
        while (goes_on(done, operation(state, t))) {
            done = operation(state, t);
            answer = act(state, t, 0);
            advance(state, t, answer);
        }
    }

    // A thread that has waited for news looks at them. A thread that exchanges a word that it has looked at
    // just before succeeds only if nobody was there in between; otherwise it has looked once more.
    bool goes_on(const Operation& done, const Operation& next) const {
        if (settings_.looks_again) return false;
        if (done.act == Act::yield) return next.act == Act::load;
        if (done.act != Act::load) return false;
        return (next.act == Act::exchange && next.at == done.at) || judge_.is_one_look(done, next);
    }

    void awake(State& state, std::size_t t) {
        state.asleep &= ~(1u << t);
        advance(state, t, 0);
    }

    void advance(State& state, std::size_t t, Word answer) {
        state.rows[t] = threads_[t].next(state.rows[t], is_answered(operation(state, t).act) ? answer : 0);
        run_unnoticed(state, t);
    }

    void run_unnoticed(State& state, std::size_t t) {
        while (!is_noticed(operation(state, t)) || sees_the_same(state, t)) {
            const Word answer = act(state, t, 0);
            const bool answered = is_answered(operation(state, t).act);
            state.rows[t] = threads_[t].next(state.rows[t], answered ? answer : 0);
        }
        if (operation(state, t).act == Act::done) state.memory.leave(t);
    }

    // Nothing but looks since then, and nothing new: that it has looked once more leaves no trace.
    bool sees_the_same(const State& state, std::size_t t) const {
        const Operation& next = operation(state, t);
        if (settings_.looks_again || next.act != Act::load) return false;
        const auto& reads = threads_[t].reads(state.rows[t]);
        const Word now = state.memory.latest(next.at);
        return std::ranges::any_of(reads, [&](auto& read) { return read == std::pair(next.at, now); });
    }

    bool is_noticed(const Operation& operation) const {
        switch (operation.act) {
            case Act::note:
            case Act::read:
            case Act::write:
            case Act::unlock:
                return false;
            case Act::done:
            case Act::yield:
            case Act::sleep:
                return true;
            case Act::wake:
                return slept_on_[operation.at];
            default:
                return shared_[operation.at];
        }
    }

    Word act(State& state, std::size_t t, std::size_t way) {
        const Operation next = operation(state, t);
        switch (next.act) {
            case Act::note:
                judge_.note(state.ledger, t, next);
                return 0;
            case Act::yield:
                for (const auto& read : threads_[t].reads(state.rows[t])) state.memory.refresh(t, read.first);
                return 0;
            case Act::wake:
                if (settings_.wakes_are_seen) state.memory.wake(t, next.at);
                wake(state, next.at);
                return 0;
            default:
                note_use(t, next);
                const Word seen = state.memory.perform(t, next, way);
                const bool sleeps = next.act == Act::sleep && (seen == next.value || next.expected != 0);
                if (sleeps) state.asleep |= 1u << t;
                return seen;
        }
    }

    void wake(State& state, Location at) {
        for (std::size_t t = 0; t < threads_.size(); ++t) {
            if (is_asleep(state, t) && operation(state, t).at == at) awake(state, t);
        }
    }

    void note_use(std::size_t t, const Operation& operation) {
        if (operation.act == Act::read || operation.act == Act::write) return;
        Uses& uses = uses_[operation.at];
        const bool looks = operation.act == Act::load || operation.act == Act::sleep;
        (judge_.is_claim(operation) ? uses.claims : looks ? uses.looks : uses.changes) |= 1u << t;
        if (operation.act == Act::sleep) find(slept_on_, operation.at);
        const std::uint32_t ordered = uses.looks | uses.changes;
        const bool by_several = ordered != 0 && std::popcount(ordered | uses.claims) > 1;
        if (by_several && (uses.changes | uses.claims) != 0) find(shared_, operation.at);
    }

    void find(std::vector<bool>& found, Location at) {
        found_more_ |= !found[at];
        found[at] = true;
    }

    Word fingerprint(const State& state) const {
        Word hash = mixed(0x243f6a8885a308d3ull, state.asleep);
        for (std::size_t t = 0; t < threads_.size(); ++t) hash = mixed(hash, state.rows[t]);
        static_assert(std::has_unique_object_representations_v<Ledger> && sizeof(Ledger) % sizeof(Word) == 0);
        std::array<Word, sizeof(Ledger) / sizeof(Word)> words;
        std::memcpy(words.data(), &state.ledger, sizeof(Ledger));
        for (const Word word : words) hash = mixed(hash, word);
        return state.memory.fingerprint(hash);
    }

    std::vector<std::string> trace() const {
        std::vector<std::string> lines;
        for (const Branch& branch : path_) {
            if (!branch.taken) continue;
            const auto [t, way] = *branch.taken;
            const Operation& taken = operation(branch.state, t);
            lines.push_back(fmt::format("{}: {} {} {}{}", t, name_of(taken.act), judge_.name_of(taken.at),
                                        is_asleep(branch.state, t) ? "(wakes)" : fmt::to_string(taken.value),
                                        way > 0 ? fmt::format(", {} stores late", way) : ""));
        }
        return lines;
    }

    std::vector<ThreadTable>& threads_;
    const std::vector<Word>& initial_;
    const Judge& judge_;
    Settings settings_;
    std::vector<bool> shared_;
    std::vector<bool> slept_on_;
    bool found_more_ = false;
    std::vector<Uses> uses_;
    Visited visited_;
    std::vector<Branch> path_;
};

}  // namespace tidemill::explore

#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/run/protocol/internal/protocol_machine.hpp"

namespace tidemill::model {

/// What every interleaving of a scenario came to.
struct Verdict {
    std::size_t states = 0;
    std::string fault{};  // the first one found; empty when there is none
    std::vector<std::string> trace{};
};

/// 64-bit fingerprints of states; among 10^7 states two are confused with a probability of 10^-6.
class Visited {
  public:
    /// False when the state was there already.
    bool insert(const State& state) {
        if (2 * (count_ + 1) > slots_.size()) grow();
        const bool added = put(fingerprint(state));
        count_ += added;
        return added;
    }
    std::size_t size() const { return count_; }

  private:
    static std::uint64_t fingerprint(const State& state) {
        std::uint64_t words[sizeof(State) / 8];
        std::memcpy(words, &state, sizeof(State));
        std::uint64_t hash = 0x243f6a8885a308d3ull;
        for (const std::uint64_t word : words) {
            hash = (std::rotl(hash, 23) ^ word) * 0x9e3779b97f4a7c15ull;
            hash ^= hash >> 32;
        }
        return hash | 1;  // 0 marks a free slot
    }

    bool put(std::uint64_t key) {
        std::size_t at = (key >> 1) & (slots_.size() - 1);
        for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at] == key) return false;
        }
        slots_[at] = key;
        return true;
    }

    void grow() {
        std::vector<std::uint64_t> old(slots_.size() * 2);
        std::swap(old, slots_);
        for (const std::uint64_t key : old) {
            if (key != 0) put(key);
        }
    }

    std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(1024);
    std::size_t count_ = 0;
};

/// Goes through every interleaving, and compares each end with what the sequence would have done.
class Explorer {
  public:
    explicit Explorer(const Scenario& scenario) : machine_(scenario) {
        for (int frames = 0; frames <= scenario.frames; ++frames) expected_.push_back(in_order(frames));
    }

    Verdict explore() {
        try {
            search();
        } catch (const Violation& violation) {
            verdict_.fault = violation.what();
            for (const Branch& branch : path_) verdict_.trace.push_back(describe(branch));
        }
        verdict_.states = visited_.size();
        return std::move(verdict_);
    }

  private:
    struct Branch {
        State state;
        std::size_t next_thread;
    };
    struct Expected {
        std::uint16_t delivered = 0;
        Outcome outcome{};
    };

    void search() {
        visit(machine_.start());
        while (!path_.empty()) {
            Branch& branch = path_.back();
            while (branch.next_thread < machine_.threads() &&
                   !machine_.enabled(branch.state, branch.next_thread)) {
                ++branch.next_thread;
            }
            if (branch.next_thread == machine_.threads()) {
                path_.pop_back();
                continue;
            }
            State next = branch.state;
            machine_.step(next, branch.next_thread++);
            visit(next);
        }
    }

    void visit(const State& state) {
        if (!visited_.insert(state)) return;
        path_.push_back({state, 0});
        bool all_done = true;
        for (std::size_t t = 0; t < machine_.threads(); ++t) {
            if (machine_.enabled(state, t)) return;
            all_done &= state.threads[t].pc == Pc::done;
        }
        if (!all_done) throw Violation("deadlock");
        check_end(state);
    }

    void check_end(const State& state) const {
        for (int g = 0; g < machine_.segments(); ++g) check_home(state, g);
        const Expected& expected = expected_[state.rings[0].end];
        if (state.outcome != expected.outcome) throw Violation("the run ended otherwise than the sequence");
        const int missing = expected.delivered & ~state.delivered;
        int extra = state.delivered & ~expected.delivered;
        // A replica of the last stage may be ahead of the one that fails, and what it did stays done.
        const bool may_be_ahead = machine_.threads_of_last_stage() > 1 && expected.outcome.kind == 'T' &&
                                  expected.outcome.segment + 1 == machine_.segments();
        if (may_be_ahead) extra &= (1 << expected.outcome.frame) - 1;
        if (missing != 0) throw Violation(fmt::format("frames {:#b} were lost", missing));
        if (extra != 0) throw Violation(fmt::format("frames {:#b} were not to be delivered", extra));
    }

    // Every token is free for the first frame behind the end that uses it.
    void check_home(const State& state, int segment) const {
        const RingState& ring = state.rings[segment];
        const int tokens = machine_.scenario().tokens[static_cast<std::size_t>(segment)];
        for (int frame = ring.end; frame < ring.end + tokens; ++frame) {
            const TokenState& token = ring.tokens[frame % tokens];
            const bool home = (token.turn & 0x7f) == machine_.turn_of(segment, frame, 0);
            if (!home || token.holder != 0) throw Violation("a token did not come home");
            if (token.sleepers != 0) throw Violation("a sleeper was counted and never discounted");
        }
    }

    // The definition: frame after frame, task after task.
    Expected in_order(int frames) const {
        Expected expected;
        int number = 0;
        for (int frame = 0; frame < frames && expected.outcome.kind == 0; ++frame) {
            if (!survives(0, frame, expected)) continue;
            if (machine_.segments() == 1) {
                expected.delivered |= static_cast<std::uint16_t>(1u << frame);
            } else {
                emit_in_order(frame, number, expected);
            }
        }
        return expected;
    }

    bool survives(int segment, int frame, Expected& expected) const {
        for (int stage = 0; stage < machine_.stages(segment); ++stage) {
            const char flow = machine_.flow_at(segment, stage, frame);
            if (flow == 'o') continue;
            if (flow != 'h') expected.outcome = outcome(flow, segment, frame);
            return false;
        }
        return true;
    }

    void emit_in_order(int frame, int& number, Expected& expected) const {
        for (std::size_t i = 0; expected.outcome.kind == 0; ++i) {
            const char flow = machine_.emission_at(frame, i);
            if (flow == 'S' || flow == 'T') expected.outcome = outcome(flow, 0, frame);
            if (flow != 'a' && flow != 'o') return;
            if (survives(1, number, expected)) expected.delivered |= static_cast<std::uint16_t>(1u << number);
            ++number;
            if (flow == 'o') return;
        }
    }

    static Outcome outcome(char kind, int segment, int frame) {
        return {static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(segment),
                static_cast<std::uint8_t>(frame)};
    }

    std::string describe(const Branch& branch) const {
        std::string line;
        for (std::size_t t = 0; t < machine_.threads(); ++t) {
            const ThreadState& thread = branch.state.threads[t];
            const bool moves = t + 1 == branch.next_thread;
            line += fmt::format("{}{}:{}/{}/{} ", moves ? ">" : "", t, name_of(thread.pc), thread.level,
                                thread.frame[thread.level]);
        }
        return line;
    }

    Machine machine_;
    std::vector<Expected> expected_;  // by the number of source frames
    Visited visited_;
    std::vector<Branch> path_;
    Verdict verdict_;
};

inline Verdict explore(const Scenario& scenario) {
    return Explorer(scenario).explore();
}

}  // namespace tidemill::model

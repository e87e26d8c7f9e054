#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tidemill/run/protocol/internal/protocol_model.hpp"

namespace tidemill::model {

/// The protocol of token_ring.cpp and worker.cpp as atomic steps that any thread may take next.
///
/// Memory is sequentially consistent here: the model judges the algorithm, the thread sanitizer the orders.
class Machine {
  public:
    explicit Machine(const Scenario& scenario) : scenario_(scenario) {
        int segment = 0;
        int stage = 0;
        for (const StageShape& shape : scenario.stages) {
            for (int r = 0; r < shape.threads; ++r) {
                roles_.push_back({segment, stage, r, shape.threads, shape.ends_segment});
            }
            ++stage;
            if (shape.ends_segment) {
                stages_[0] = stage;
                segment = 1;
                stage = 1;  // the emitting stage is the new segment's first
            }
        }
        stages_[static_cast<std::size_t>(segment)] = stage;
        segments_ = segment + 1;
        may_stop_ = std::any_of(scenario.events.begin(), scenario.events.end(),
                                [](const Event& e) { return e.flow != 'h'; });
        for (const std::string& flows : scenario.emissions) {
            may_stop_ |= flows.find_first_of("ST") != std::string::npos;
        }
    }

    int segments() const { return segments_; }
    int stages(int segment) const { return stages_[static_cast<std::size_t>(segment)]; }
    int threads_of_last_stage() const { return scenario_.stages.back().threads; }
    std::size_t threads() const { return roles_.size() + (scenario_.halted_by_user ? 1 : 0); }
    const Scenario& scenario() const { return scenario_; }

    State start() const {
        State state{};
        for (std::size_t g = 0; g < 2; ++g) {
            state.rings[g].end = g == 0 ? static_cast<std::uint8_t>(scenario_.frames) : kEndless;
            state.rings[g].limit = kEndless;
            for (int i = 0; i < scenario_.tokens[g]; ++i) {
                state.rings[g].tokens[i].turn = turn_of(static_cast<int>(g), i, 0);
            }
        }
        for (std::size_t t = 0; t < roles_.size(); ++t) {
            state.threads[t].frame[0] = static_cast<std::uint8_t>(roles_[t].replica);
            state.threads[t].pc = leads(t) ? Pc::look_halting : Pc::try_take;
            run_invisible(state, t);
        }
        for (std::size_t t = roles_.size(); t < kMostThreads; ++t) {
            state.threads[t].pc = t < threads() ? Pc::user_halt : Pc::done;
        }
        return state;
    }

    bool enabled(const State& state, std::size_t t) const {
        const ThreadState& thread = state.threads[t];
        if (thread.pc == Pc::done || thread.pc == Pc::asleep) return false;
        if (thread.pc != Pc::spin) return true;
        // Spinning until something changes is waiting for it: a state in which all spin is a livelock.
        return its_turn(state, t) || ended(state, t);
    }

    /// One atomic step of thread `t`, and what it does next that no other thread can notice.
    void step(State& state, std::size_t t) const {
        act(state, t);
        run_invisible(state, t);
    }

    /// The turn word of a frame that waits for stage 0 with all tokens home.
    std::uint8_t turn_of(int segment, int frame, int stage) const {
        return static_cast<std::uint8_t>(frame * stages(segment) + stage);
    }

    char flow_at(int segment, int stage, int frame) const {
        for (const Event& event : scenario_.events) {
            if (event.segment == segment && event.stage == stage && event.frame == frame) return event.flow;
        }
        return 'o';
    }
    char emission_at(int frame, std::size_t index) const {
        const auto f = static_cast<std::size_t>(frame);
        return f < scenario_.emissions.size() ? scenario_.emissions[f].at(index) : 'o';
    }

    static constexpr std::uint8_t kEndless = 255;

  private:
    static constexpr std::uint8_t kNudge = 0x80;
    enum Flag : std::uint8_t { kEnding = 1, kLeaving = 2, kStopping = 4 };

    struct Role {
        int segment;  // of its first part
        int stage;    // of that segment
        int replica;
        int threads;
        bool ends_segment;
    };

    bool mutated(Mutation mutation) const { return scenario_.mutation == mutation; }
    bool leads(std::size_t t) const {
        return roles_[t].segment == 0 && roles_[t].stage == 0 && roles_[t].replica == 0;
    }
    // Whether the thread is one of several that begin source frames.
    bool claims(std::size_t t) const {
        const bool old = mutated(Mutation::end_is_next_frame) || mutated(Mutation::end_is_one_ring_on);
        return !old && roles_[t].segment == 0 && roles_[t].stage == 0 && roles_[t].threads > 1;
    }
    int segment_of(const State& state, std::size_t t) const {
        return roles_[t].segment + state.threads[t].level;
    }
    int stage_of(const State& state, std::size_t t) const {
        return state.threads[t].level == 0 ? roles_[t].stage : 0;
    }
    int frame_of(const State& state, std::size_t t) const {
        return state.threads[t].frame[state.threads[t].level];
    }
    RingState& ring(State& state, std::size_t t) const { return state.rings[segment_of(state, t)]; }
    const RingState& ring(const State& state, std::size_t t) const {
        return state.rings[segment_of(state, t)];
    }
    std::size_t token_index(const State& state, std::size_t t) const {
        const auto tokens = scenario_.tokens[static_cast<std::size_t>(segment_of(state, t))];
        return static_cast<std::size_t>(frame_of(state, t) % tokens);
    }
    TokenState& token(State& state, std::size_t t) const {
        return ring(state, t).tokens[token_index(state, t)];
    }
    const TokenState& token(const State& state, std::size_t t) const {
        return ring(state, t).tokens[token_index(state, t)];
    }
    bool its_turn(const State& state, std::size_t t) const {
        return (token(state, t).turn & ~kNudge) ==
               turn_of(segment_of(state, t), frame_of(state, t), stage_of(state, t));
    }
    bool ended(const State& state, std::size_t t) const { return frame_of(state, t) >= ring(state, t).end; }

    // A load of what never changes, or of what only the thread itself writes, is no step of its own.
    bool invisible(const State& state, std::size_t t) const {
        const bool halts = may_stop_ || scenario_.halted_by_user;
        switch (state.threads[t].pc) {
            case Pc::look_halting:
            case Pc::claim:
                return !halts;
            case Pc::look_limit:
            case Pc::emit_limit:
                return !may_stop_;
            case Pc::wait_end:
            case Pc::look_end:
                return (segment_of(state, t) == 0 && !halts) || state.threads[t].level == 1;
            default:
                return false;
        }
    }

    void run_invisible(State& state, std::size_t t) const {
        while (invisible(state, t)) act(state, t);
    }

    void act(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        switch (thread.pc) {
            case Pc::look_halting:
                return look_halting(state, t);
            case Pc::claim:
            case Pc::shut:
                return claim(state, t);
            case Pc::lower_end:
            case Pc::nudge:
            case Pc::nudge_wake:
                return close(state, t);
            case Pc::try_take:
            case Pc::spin:
            case Pc::wait_end:
                return take(state, t);
            case Pc::count_sleeper:
            case Pc::look_turn:
            case Pc::look_end:
            case Pc::fall_asleep:
            case Pc::uncount_sleeper:
                return sleep(state, t);
            case Pc::look_limit:
                if (frame_of(state, t) < ring(state, t).limit) return work(state, t);
                return begin_pass(state, t);
            case Pc::emit_limit:
                if (frame_of(state, t) >= ring(state, t).limit) return begin_pass(state, t);
                thread.level = 1;
                thread.pc = Pc::try_take;
                return;
            case Pc::record:
            case Pc::lower_upstream:
            case Pc::lower_own:
            case Pc::halt:
                return stop_before(state, t);
            case Pc::store_turn:
            case Pc::look_sleepers:
            case Pc::wake:
                return pass(state, t);
            case Pc::user_halt:
                state.halting = 1;
                thread.pc = Pc::done;
                return;
            case Pc::asleep:
            case Pc::done:
                throw std::logic_error("a thread that cannot move was moved");
        }
    }

    void look_halting(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        const bool ends = state.halting && !(thread.flags & kEnding);
        thread.pc = Pc::try_take;
        if (ends) {
            thread.flags |= kEnding;
            begin_close(state, t);
        }
    }

    void begin_close(State& state, std::size_t t) const {
        state.threads[t].at = 0;
        const bool shuts = !(state.threads[t].flags & kLeaving) && claims(t);
        state.threads[t].pc = mutated(Mutation::nudge_before_end) ? Pc::nudge
                              : shuts                             ? Pc::shut
                                                                  : Pc::lower_end;
    }

    // Several threads begin frames in no order among them: the end is behind the last one begun.
    void claim(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        const auto frame = static_cast<std::uint8_t>(frame_of(state, t));
        if (thread.pc == Pc::shut) {
            state.shut = 1;
            thread.seen = state.claimed;
            thread.pc = Pc::lower_end;
        } else if (state.shut && frame >= state.claimed && !mutated(Mutation::frames_not_claimed)) {
            token(state, t).holder = 0;
            leave(state, t);
        } else {
            const bool told = !mutated(Mutation::frames_not_claimed);
            if (told) state.claimed = std::max<std::uint8_t>(state.claimed, frame + 1);
            thread.pc = Pc::look_limit;
        }
    }

    void lower_end(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        const std::size_t g = (thread.flags & kLeaving) ? 1 : 0;
        int frame = thread.frame[g];
        if (g == 0 && roles_[t].threads > 1 && !mutated(Mutation::end_is_next_frame)) {
            frame = mutated(Mutation::end_is_one_ring_on) ? frame + scenario_.tokens[0] : thread.seen;
        }
        thread.seen = 0;
        state.rings[g].end = std::min(state.rings[g].end, static_cast<std::uint8_t>(frame));
    }

    void close(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        const std::size_t g = (thread.flags & kLeaving) ? 1 : 0;
        const bool end_last = mutated(Mutation::nudge_before_end);
        if (thread.pc == Pc::lower_end) {
            lower_end(state, t);
            thread.pc = Pc::nudge;
            if (end_last) closed(state, t);
            return;
        }
        TokenState& token = state.rings[g].tokens[thread.at];
        if (thread.pc == Pc::nudge) {
            if (!mutated(Mutation::no_nudge)) token.turn ^= kNudge;
            thread.pc = Pc::nudge_wake;
            return;
        }
        if (!mutated(Mutation::no_wake_on_close)) wake_all(state, static_cast<int>(g), thread.at);
        thread.pc = Pc::nudge;
        if (++thread.at < scenario_.tokens[g]) return;
        if (end_last) {
            thread.pc = Pc::lower_end;
        } else {
            closed(state, t);
        }
    }

    void closed(State& state, std::size_t t) const {
        state.threads[t].at = 0;
        state.threads[t].pc = (state.threads[t].flags & kLeaving) ? Pc::done : Pc::try_take;
    }

    void take(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        if (thread.pc == Pc::wait_end) {
            if (ended(state, t)) return leave(state, t);
            thread.pc = Pc::count_sleeper;
            return;
        }
        if (thread.pc == Pc::spin && ended(state, t)) return leave(state, t);
        if (its_turn(state, t)) return taken(state, t);
        thread.pc = scenario_.passive ? Pc::wait_end : Pc::spin;
    }

    void sleep(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        TokenState& waited_for = token(state, t);
        switch (thread.pc) {
            case Pc::count_sleeper:
                ++waited_for.sleepers;
                thread.pc = Pc::look_turn;
                return;
            case Pc::look_turn:
                thread.seen = waited_for.turn;
                thread.pc = its_turn(state, t) ? Pc::uncount_sleeper : Pc::look_end;
                return;
            case Pc::look_end:
                thread.pc = ended(state, t) ? Pc::uncount_sleeper : Pc::fall_asleep;
                return;
            case Pc::fall_asleep: {  // the kernel compares and queues in one step
                const bool same = waited_for.turn == thread.seen || mutated(Mutation::sleep_without_compare);
                thread.pc = same ? Pc::asleep : Pc::uncount_sleeper;
                thread.seen = 0;
                return;
            }
            default:
                --waited_for.sleepers;
                thread.seen = 0;
                thread.pc = Pc::try_take;
        }
    }

    void wake_all(State& state, int segment, std::size_t index) const {
        for (std::size_t t = 0; t < roles_.size(); ++t) {
            if (state.threads[t].pc != Pc::asleep || segment_of(state, t) != segment) continue;
            if (token_index(state, t) == index) state.threads[t].pc = Pc::uncount_sleeper;
        }
    }

    // No frame left: what this thread has begun behind it ends as well.
    void leave(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        thread.flags |= kLeaving;
        thread.pc = Pc::done;
        if (roles_[t].ends_segment && !mutated(Mutation::next_segment_not_closed)) begin_close(state, t);
    }

    void taken(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        if (ended(state, t) && !mutated(Mutation::end_not_checked_after_take)) return leave(state, t);
        TokenState& mine = token(state, t);
        if (mine.holder != 0) throw Violation("two threads hold one token");
        mine.holder = static_cast<std::uint8_t>(t + 1);
        const int stage = stage_of(state, t);
        if (stage > 0 && mine.stage != stage) throw Violation("a token came from the wrong stage");
        if (thread.level == 1) return emit(state, t);
        if (roles_[t].segment == 0 && stage == 0) {
            mine.hole = 0;
            mine.content = content_of(frame_of(state, t), 0);
        }
        if (mutated(Mutation::pass_before_work)) mine.turn = turn_after(state, t);
        thread.pc = claims(t) ? Pc::claim : Pc::look_limit;
    }

    void work(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        TokenState& mine = token(state, t);
        const int segment = segment_of(state, t);
        const char flow = mine.hole ? 'o' : flow_at(segment, stage_of(state, t), frame_of(state, t));
        if (flow == 'S' || flow == 'T') return begin_stop(state, t, flow);
        begin_pass(state, t);
        if (flow == 'h') mine.hole = 1;
        if (mine.hole) return;
        if (thread.level == 0 && roles_[t].ends_segment) {
            thread.pc = Pc::emit_limit;
        } else if (segment + 1 == segments_ && stage_of(state, t) + 1 == stages(segment)) {
            deliver(state, frame_of(state, t), mine.content);
        }
    }

    void deliver(State& state, int frame, std::uint8_t content) const {
        const auto bit = static_cast<std::uint16_t>(1u << frame);
        if (state.delivered & bit) throw Violation(fmt::format("frame {} was delivered twice", frame));
        state.delivered |= bit;
        if (segments_ == 1 && content != content_of(frame, 0))
            throw Violation("a frame holds another's data");
        if (segments_ == 2 && content != emitted_as(frame)) throw Violation("a frame holds another's data");
    }

    // What the sequence emits as frame `number` of the second segment.
    std::uint8_t emitted_as(int number) const {
        int emitted = 0;
        for (int frame = 0; frame < scenario_.frames; ++frame) {
            bool hole = false;
            for (int stage = 0; stage < stages(0); ++stage) hole |= flow_at(0, stage, frame) == 'h';
            for (std::size_t i = 0; !hole; ++i) {
                const char flow = emission_at(frame, i);
                if ((flow == 'a' || flow == 'o') && emitted++ == number) {
                    return content_of(frame, static_cast<int>(i));
                }
                if (flow != 'a') break;
            }
        }
        return kEndless;
    }

    // The segment's last task has its next token: it fills it, or leaves it for later.
    void emit(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        TokenState& next = token(state, t);
        const char flow = emission_at(thread.frame[0], thread.emitted);
        if (flow == 'a' || flow == 'o') {
            next.content = content_of(thread.frame[0], thread.emitted++);
            next.hole = 0;
            thread.pc = Pc::look_limit;
            return;
        }
        if (flow == 's' && mutated(Mutation::skipped_token_passed_on)) {
            ++thread.emitted;
            next.hole = 1;
            return begin_pass(state, t);
        }
        next.holder = 0;
        thread.level = 0;
        flow == 's' ? begin_pass(state, t) : begin_stop(state, t, flow);
    }

    void begin_stop(State& state, std::size_t t, char flow) const {
        ThreadState& thread = state.threads[t];
        const int flags = flow == 'S' ? thread.flags | kStopping : thread.flags & ~kStopping;
        thread.flags = static_cast<std::uint8_t>(flags);
        thread.pc = Pc::record;
    }

    void stop_before(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        switch (thread.pc) {
            case Pc::record:
                record(state, t);
                thread.pc = segment_of(state, t) == 1 ? Pc::lower_upstream : Pc::lower_own;
                if (mutated(Mutation::limit_not_lowered)) thread.pc = Pc::halt;
                return;
            case Pc::lower_upstream:
                state.rings[0].limit = 0;
                thread.pc = Pc::lower_own;
                return;
            case Pc::lower_own: {
                RingState& own = ring(state, t);
                own.limit = std::min(own.limit, static_cast<std::uint8_t>(frame_of(state, t)));
                thread.pc = Pc::halt;
                return;
            }
            default:
                state.halting = 1;
                begin_pass(state, t);
        }
    }

    void record(State& state, std::size_t t) const {
        const bool stops = state.threads[t].flags & kStopping;
        if (stops && mutated(Mutation::later_stop_forgotten)) return;
        const Outcome mine{static_cast<std::uint8_t>(stops ? 'S' : 'T'),
                           static_cast<std::uint8_t>(segment_of(state, t)),
                           static_cast<std::uint8_t>(frame_of(state, t))};
        const Outcome& told = state.outcome;
        const bool before = told.kind == 0 || mine.segment > told.segment ||
                            (mine.segment == told.segment && mine.frame < told.frame);
        if (told.kind != 0 && mutated(Mutation::first_failure_told)) return;
        if (before) state.outcome = mine;
    }

    void begin_pass(State& state, std::size_t t) const {
        const bool check_first = mutated(Mutation::wake_check_before_store) && scenario_.passive;
        state.threads[t].pc = check_first ? Pc::look_sleepers : Pc::store_turn;
    }

    void pass(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        TokenState& mine = token(state, t);
        const bool check_first = mutated(Mutation::wake_check_before_store);
        if (thread.pc == Pc::wake) {
            wake_all(state, segment_of(state, t), token_index(state, t));
            return passed(state, t);
        }
        if (thread.pc == Pc::look_sleepers) {
            thread.wakes = mine.sleepers != 0;
            if (check_first) {
                thread.pc = Pc::store_turn;
            } else {
                thread.wakes ? void(thread.pc = Pc::wake) : passed(state, t);
            }
            return;
        }
        mine.turn = turn_after(state, t);
        mine.stage = static_cast<std::uint8_t>(stage_of(state, t) + 1);
        mine.holder = 0;
        thread.pc = check_first ? Pc::wake : Pc::look_sleepers;
        const bool silent = mutated(Mutation::no_wake) || (check_first && !thread.wakes);
        if (!scenario_.passive || silent) passed(state, t);
    }

    std::uint8_t turn_after(const State& state, std::size_t t) const {
        const int segment = segment_of(state, t);
        const int stage = stage_of(state, t);
        const int tokens = scenario_.tokens[static_cast<std::size_t>(segment)];
        const int ahead = mutated(Mutation::next_frame_gets_token) ? 1 : tokens;
        const int frame = frame_of(state, t);
        if (stage + 1 < stages(segment)) return turn_of(segment, frame, stage + 1);
        return turn_of(segment, frame + ahead, 0);
    }

    void passed(State& state, std::size_t t) const {
        ThreadState& thread = state.threads[t];
        thread.wakes = 0;
        if (thread.level == 1) {
            ++thread.frame[1];
            thread.level = 0;
            const bool more = emission_at(thread.frame[0], thread.emitted - 1u) == 'a';
            more ? void(thread.pc = Pc::emit_limit) : begin_pass(state, t);
            return;
        }
        thread.frame[0] = static_cast<std::uint8_t>(thread.frame[0] + roles_[t].threads);
        thread.emitted = 0;
        thread.pc = leads(t) ? Pc::look_halting : Pc::try_take;
    }

    Scenario scenario_;
    std::vector<Role> roles_;  // per thread
    std::array<int, 2> stages_{0, 0};
    int segments_ = 1;
    bool may_stop_ = false;
};

}  // namespace tidemill::model

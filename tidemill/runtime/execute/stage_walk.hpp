#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cxxabi.h>

#include "tidemill/runtime/execute/batch_walk.hpp"
#include "tidemill/runtime/execute/run_state.hpp"
#include "tidemill/runtime/graph/task.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// Result of a step of a walk.
enum class WalkStep { worked, waits, over };

/// One thread's way along the tokens of its stage: which batches are its own, where they come from and go to,
/// and when the stream is over.
///
/// What is done with a frame is its caller's `Work`:
/// - `bool halting()`: whether the source is to end; asked by the first thread before each source frame.
/// - `void begin(Token&, frame)`: a source frame begins.
/// - `void begin_late(Token&)`, where late frames are dropped: the same for one that finds no token, in the
///   ring's spare one; `void drops(frame)`: that frame is lost.
/// - `Flow run(part, Token&, frame)`: does the tasks. Skip: the frame ends here; stop: the stream before it.
/// - `std::uint32_t most_together()`, if it has that: how many frames `begin_together` takes; 1: none.
/// - `std::uint32_t most_under_way()`: how many of its calls may have something to end.
/// - `Flow begin_together(std::span<const FrameAt>)`: does the tasks of these frames at once. Ok: that is it.
///   Again: it has begun, and something is to be ended. Stop: the stream before the first of them.
/// - `bool is_oldest_done()`: whether what began first, and is to be ended, would end without waiting.
/// - `Flow end_together()`: ends that. Ok, or stop.
/// - `void gathers()`: the first frame of several is there; `bool gathers_on()`: whether to wait longer for
///   more of them.
/// - `Flow emit(part, Mark&, Token& out)`: calls the task that ends the part's segment, once.
/// - `std::optional<Error> error()`: why it said stop, if because a task threw.
/// - `void finish(part, Mark&, alive)`: the frame is through the part; `alive()`, and before the stream's
/// end.
/// - `Token* wait(part, take)`: returns what `take()` does, which waits.
/// - `void loses_thread()`, if it has that: a forced unwind ends the thread. It ends the stream, and the walk
/// goes on without tasks until it has handed on all tokens that others wait for.
template <typename Threads, typename Error>
class BasicStageWalk {
  public:
    using State = BasicRunState<Threads, Error>;
    using Ring = typename State::Ring;
    using Token = typename Ring::Token;
    using Mark = typename Token::Mark;

    /// Work of the thread in one segment; a stage that ends segments has several.
    struct Part {
        std::uint32_t segment;
        std::uint32_t stage_index;     // of the segment
        std::uint64_t next_frame = 0;  // that begins, or is emitted, here
        TokenCursor cursor{};
        Token* open = nullptr;    // the batch that the part before is filling
        std::uint64_t frame = 0;  // that runs

        // State of a walk in steps:
        Token* token = nullptr;    // that the frame is in
        std::uint32_t place = 0;   // of the frame in it
        bool emits_again = false;  // what ends the part has more of this frame
    };

    /// A frame of a token that this thread has the turn of.
    struct FrameAt {
        Token* token;
        std::uint32_t frame;

        Mark& mark() const { return token->mark(frame); }
        std::uint64_t number() const { return token->first_frame + frame; }
    };

    struct Options {
        bool begins = false;  ///< the run's frames
        std::size_t replica = 0;
        Turns turns{1};  ///< of the stage's threads
        WaitMode pull = WaitMode::passive;
        WaitMode push = WaitMode::passive;
        std::uint32_t batch = 1;              ///< frames per token
        std::uint32_t gather = 1;             ///< frames that its task is to have at once, of several tokens
        std::uint64_t first_frame = 0;        ///< of those that begin here
        std::uint64_t source_end = kEndless;  ///< no frame begins from there on
        bool drops_late = false;              ///< source frames for which there is no token
        bool drops_oldest = false;            ///< of those, and of the ones that wait for the second stage
        bool claims = false;                  ///< it is that stage
    };

    BasicStageWalk(State& state, const Options& options, std::vector<Part> parts);

    const Part& part(std::size_t index) const { return parts_[index]; }
    std::size_t parts() const { return parts_.size(); }
    /// Parts whose frames have more to emit, in a walk in steps.
    std::size_t emitting() const { return emitting_; }

    /// Where its task takes several frames at once, and while it runs: which of them it holds.
    const BatchWalk<BasicStageWalk>* batches() const { return batches_; }

    /// Runs until the stream ends, and ends what this thread has begun behind it.
    template <typename Work>
    void run(Work& work);

    /// The same step by step, for a thread that has several stages: works on one frame, or calls the task
    /// that ends a segment once, if the tokens for that are there. Never waits, and gathers no frames. Waits:
    /// nothing could be done; over: the stream has ended here.
    template <typename Work>
    WalkStep step(Work& work);

  private:
    template <typename Work>
    void run_batches(Work& work);
    template <typename Work, typename Run>
    static void run_also_unwound(Work& work, Run run);
    template <typename Work>
    void drop_late(Work& work);
    template <typename Work>
    void run_batch(Work& work, Token& token);
    template <typename Work>
    void run_frames(Work& work, Token& token);
    template <typename Work>
    void process(Work& work, std::size_t index, Token& token, std::uint32_t frame);
    template <typename Work>
    bool takes_batches(Work& work) const {
        const bool several = work.most_together() > 1 || work.most_under_way() > 1;
        return several && !begins_frames() && parts_.size() == 1;
    }
    template <typename Work>
    void emit(Work& work, std::size_t index, Mark& mark);
    template <typename Work>
    Token& open_token(Work& work, Part& part);
    template <typename Work>
    Token* take(Work& work, const Part& part);
    template <typename Work>
    void end_when_halting(Work& work);
    template <typename Work>
    WalkStep step_frame(Work& work);
    template <typename Work>
    Token* try_take_batch(Work& work);
    template <typename Work>
    WalkStep step_emission(Work& work);
    template <typename Work>
    void start(Work& work, std::size_t index, Token& token, std::uint32_t place);
    template <typename Work>
    void leave(Work& work, std::size_t index);
    Token* try_open(Part& part);
    void end_behind();

    bool begins_frames() const { return options_.begins; }
    bool leads() const { return begins_frames() && options_.replica == 0; }
    bool is_alone() const { return options_.turns.threads() == 1; }
    void advance();
    bool begin_batch(Token& token);
    void hand_on(std::size_t index, Token& token);
    void hand_on_open(std::size_t index);

    State& state_;
    Options options_;
    std::vector<Part> parts_;
    bool ending_ = false;
    Token* held_ = nullptr;  // whose frames ran when the thread's walk was unwound
    std::size_t emitting_ = 0;
    const BatchWalk<BasicStageWalk>* batches_ = nullptr;
};

template <typename Threads, typename Error>
BasicStageWalk<Threads, Error>::BasicStageWalk(State& state, const Options& options, std::vector<Part> parts)
    : state_(state), options_(options), parts_(std::move(parts)) {
    for (Part& part : parts_) part.cursor = state_.ring(part.segment).at(0);
    parts_.front().cursor = state_.ring(parts_.front().segment).at(options_.turns.first(options_.replica));
}

template <typename Threads, typename Error>
template <typename Work>
void BasicStageWalk<Threads, Error>::run(Work& work) {
    run_also_unwound(work, [&] {
        run_batches(work);
        end_behind();
    });
}

// Runs twice where a forced unwind ends the thread.
template <typename Threads, typename Error>
template <typename Work, typename Run>
void BasicStageWalk<Threads, Error>::run_also_unwound(Work& work, Run run) {
    if constexpr (requires { work.loses_thread(); }) {
        try {
            run();
        } catch (const abi::__forced_unwind&) {
            work.loses_thread();
            run();
            throw;
        }
    } else {
        run();
    }
}

template <typename Threads, typename Error>
void BasicStageWalk<Threads, Error>::end_behind() {
    for (std::size_t i = 1; i < parts_.size(); ++i) {
        state_.ring(parts_[i].segment).close(parts_[i].cursor.batch);
    }
}

template <typename Threads, typename Error>
template <typename Work>
void BasicStageWalk<Threads, Error>::run_batches(Work& work) {
    Part& part = parts_.front();
    if constexpr (requires { work.most_together(); }) {
        if (takes_batches(work)) {
            BatchWalk<BasicStageWalk> batches(state_, options_, part);
            batches_ = &batches;
            run_also_unwound(work, [&] { batches.run(work, work.most_together(), work.most_under_way()); });
            batches_ = nullptr;
            return;
        }
    }
    if (Token* const held = std::exchange(held_, nullptr)) {
        hand_on(0, *held);
        advance();
    }
    while (true) {
        if (leads()) end_when_halting(work);
        if (options_.drops_late) drop_late(work);
        Token* token = take(work, part);
        if (!token || (begins_frames() && !begin_batch(*token))) return;
        run_batch(work, *token);
        hand_on(0, *token);
        advance();
    }
}

// To the batch that is this thread's next one.
template <typename Threads, typename Error>
void BasicStageWalk<Threads, Error>::advance() {
    Part& part = parts_.front();
    const std::uint64_t batch = part.cursor.batch;
    state_.ring(part.segment).advance(part.cursor, options_.turns.next(batch) - batch);
}

// Frames that are due while there is no token for them are made all the same, and one is lost: that one, or
// an older one whose place it gets. Its number is not: it is time.
template <typename Threads, typename Error>
template <typename Work>
void BasicStageWalk<Threads, Error>::drop_late(Work& work) {
    Part& part = parts_.front();
    Ring& ring = state_.ring(part.segment);
    while (part.next_frame < options_.source_end && !ring.ended_before(part.cursor.batch) &&
           !ring.try_take(part.cursor, 0)) {
        Token& spare = ring.spare();
        spare.first_frame = part.next_frame++;
        work.begin_late(spare);
        process(work, 0, spare, 0);
        const std::uint64_t made = part.frame;
        if (made < ring.limit()) {
            const auto oldest = options_.drops_oldest ? ring.replace_oldest(part.cursor.batch) : std::nullopt;
            work.drops(oldest.value_or(made));
        }
        end_when_halting(work);
    }
    if (part.next_frame >= options_.source_end) ring.close(part.cursor.batch);
}

template <typename Threads, typename Error>
template <typename Work>
void BasicStageWalk<Threads, Error>::run_batch(Work& work, Token& token) {
    if constexpr (requires { work.loses_thread(); }) {
        try {
            run_frames(work, token);
        } catch (...) {
            held_ = &token;
            throw;
        }
    } else {
        run_frames(work, token);
    }
}

template <typename Threads, typename Error>
template <typename Work>
void BasicStageWalk<Threads, Error>::run_frames(Work& work, Token& token) {
    for (std::uint32_t frame = 0; frame < token.frames; ++frame) {
        if (begins_frames()) {
            if (frame > 0 && leads() && is_alone() && work.halting()) token.frames = frame;
            if (frame == token.frames) break;
            work.begin(token, frame);
            parts_.front().next_frame = token.first_frame + frame + 1;
        }
        process(work, 0, token, frame);
    }
}

// Alone, the leader knows what has begun. Beside others it must ask: replicas whose batches share no tokens
// and no later thread with its own may be any number of batches ahead.
template <typename Threads, typename Error>
template <typename Work>
void BasicStageWalk<Threads, Error>::end_when_halting(Work& work) {
    if (!work.halting() || ending_) return;
    ending_ = true;
    state_.ring(parts_.front().segment)
        .close(is_alone() ? parts_.front().cursor.batch : state_.shut_source());
}

// Only the last batch of a run may be smaller than the others, so numbers are a matter of arithmetic.
template <typename Threads, typename Error>
bool BasicStageWalk<Threads, Error>::begin_batch(Token& token) {
    const std::uint64_t batch = parts_.front().cursor.batch;
    if (!is_alone() && !state_.may_begin(batch)) return false;
    const std::uint64_t first_frame =
        options_.drops_late ? parts_.front().next_frame : options_.first_frame + batch * options_.batch;
    token.first_frame = first_frame;
    token.frames = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(options_.batch, options_.source_end - first_frame));
    return true;
}

template <typename Threads, typename Error>
template <typename Work>
auto BasicStageWalk<Threads, Error>::take(Work& work, const Part& part) -> Token* {
    Ring& ring = state_.ring(part.segment);
    Token* token = ring.try_take(part.cursor, part.stage_index);
    if (!token) {
        const WaitMode mode = part.stage_index == 0 ? options_.push : options_.pull;
        token = work.wait(part, [&] { return ring.take(part.cursor, part.stage_index, mode); });
    }
    if (ring.ended_before(part.cursor.batch)) return nullptr;
    if (options_.claims && part.stage_index == 1) ring.claim(*token);
    return token;
}

template <typename Threads, typename Error>
template <typename Work>
void BasicStageWalk<Threads, Error>::process(Work& work, std::size_t index, Token& token,
                                             std::uint32_t frame) {
    Part& part = parts_[index];
    Ring& ring = state_.ring(part.segment);
    part.frame = token.first_frame + frame;
    if (part.frame < ring.limit()) {
        const Flow flow = work.run(index, token, frame);
        if (flow == Flow::stop) state_.end_before(part.segment, part.frame, work.error());
        if (flow == Flow::ok && index + 1 < parts_.size()) emit(work, index, token.mark(frame));
    }
    work.finish(index, token.mark(frame), [&] { return part.frame < ring.limit(); });
}

template <typename Threads, typename Error>
template <typename Work>
void BasicStageWalk<Threads, Error>::emit(Work& work, std::size_t index, Mark& mark) {
    const Part& part = parts_[index];
    Part& next = parts_[index + 1];
    Flow flow = Flow::again;
    while (flow == Flow::again && part.frame < state_.ring(part.segment).limit()) {
        Token& out = open_token(work, next);
        flow = work.emit(index, mark, out);
        if (flow == Flow::stop) state_.end_before(part.segment, part.frame, work.error());
        if (flow == Flow::stop || flow == Flow::skip) return;
        ++next.next_frame;
        const std::uint32_t frame = out.frames;
        out.frames = frame + 1;
        process(work, index + 1, out, frame);
        if (frame + 1 == options_.batch) hand_on_open(index + 1);
    }
}

template <typename Threads, typename Error>
template <typename Work>
auto BasicStageWalk<Threads, Error>::open_token(Work& work, Part& part) -> Token& {
    if (!part.open) {
        part.open = take(work, part);
        part.open->first_frame = part.next_frame;
        part.open->frames = 0;
    }
    return *part.open;
}

// Frames of a batch go on with it: no frame waits for the next batch to come.
template <typename Threads, typename Error>
void BasicStageWalk<Threads, Error>::hand_on(std::size_t index, Token& token) {
    if (index + 1 < parts_.size()) hand_on_open(index + 1);
    const Part& part = parts_[index];
    Ring& ring = state_.ring(part.segment);
    if (options_.drops_oldest) ring.offer(token);
    ring.pass(token, part.cursor.batch, part.stage_index);
}

template <typename Threads, typename Error>
void BasicStageWalk<Threads, Error>::hand_on_open(std::size_t index) {
    Part& part = parts_[index];
    if (!part.open || part.open->frames == 0) return;
    hand_on(index, *part.open);
    part.open = nullptr;
    state_.ring(part.segment).advance(part.cursor, 1);
}

template <typename Threads, typename Error>
template <typename Work>
WalkStep BasicStageWalk<Threads, Error>::step(Work& work) {
    return emitting_ > 0 ? step_emission(work) : step_frame(work);
}

template <typename Threads, typename Error>
template <typename Work>
WalkStep BasicStageWalk<Threads, Error>::step_frame(Work& work) {
    Part& part = parts_.front();
    if (!part.token) {
        part.token = try_take_batch(work);
        part.place = 0;
        if (!part.token && !state_.ring(part.segment).ended_before(part.cursor.batch)) return WalkStep::waits;
        if (!part.token) {
            end_behind();
            return WalkStep::over;
        }
    }
    if (begins_frames()) {
        work.begin(*part.token, part.place);
        part.next_frame = part.token->first_frame + part.place + 1;
    }
    start(work, 0, *part.token, part.place);
    return WalkStep::worked;
}

// Null where its turn has not come, or the segment has ended.
template <typename Threads, typename Error>
template <typename Work>
auto BasicStageWalk<Threads, Error>::try_take_batch(Work& work) -> Token* {
    const Part& part = parts_.front();
    Ring& ring = state_.ring(part.segment);
    Token* token = ring.try_take(part.cursor, part.stage_index);
    if (token && leads()) end_when_halting(work);
    if (!token || ring.ended_before(part.cursor.batch)) return nullptr;
    if (options_.claims && part.stage_index == 1) ring.claim(*token);
    if (begins_frames() && !begin_batch(*token)) return nullptr;
    return token;
}

// The frame is in a part from here until leave().
template <typename Threads, typename Error>
template <typename Work>
void BasicStageWalk<Threads, Error>::start(Work& work, std::size_t index, Token& token, std::uint32_t place) {
    Part& part = parts_[index];
    part.token = &token;
    part.place = place;
    part.frame = token.first_frame + place;
    if (part.frame < state_.ring(part.segment).limit()) {
        const Flow flow = work.run(index, token, place);
        if (flow == Flow::stop) state_.end_before(part.segment, part.frame, work.error());
        if (flow == Flow::ok && index + 1 < parts_.size()) {
            emitting_ = index + 1;
            return;
        }
    }
    leave(work, index);
}

// As emit(), once: of the last part that emits.
template <typename Threads, typename Error>
template <typename Work>
WalkStep BasicStageWalk<Threads, Error>::step_emission(Work& work) {
    const std::size_t index = emitting_ - 1;
    Part& part = parts_[index];
    Part& next = parts_[index + 1];
    if (part.frame < state_.ring(part.segment).limit()) {
        Token* out = try_open(next);
        if (!out) return WalkStep::waits;
        const Flow flow = work.emit(index, part.token->mark(part.place), *out);
        if (flow == Flow::stop) state_.end_before(part.segment, part.frame, work.error());
        if (flow != Flow::stop && flow != Flow::skip) {
            part.emits_again = flow == Flow::again;
            ++next.next_frame;
            const std::uint32_t place = out->frames;
            out->frames = place + 1;
            start(work, index + 1, *out, place);
            return WalkStep::worked;
        }
    }
    leave(work, index);
    return WalkStep::worked;
}

template <typename Threads, typename Error>
auto BasicStageWalk<Threads, Error>::try_open(Part& part) -> Token* {
    if (!part.open) {
        part.open = state_.ring(part.segment).try_take(part.cursor, part.stage_index);
        if (!part.open) return nullptr;
        part.open->first_frame = part.next_frame;
        part.open->frames = 0;
    }
    return part.open;
}

// Frames that the part before has not emitted yet come next; else that is through, too.
template <typename Threads, typename Error>
template <typename Work>
void BasicStageWalk<Threads, Error>::leave(Work& work, std::size_t index) {
    Part& part = parts_[index];
    emitting_ = index;
    work.finish(index, part.token->mark(part.place),
                [&] { return part.frame < state_.ring(part.segment).limit(); });
    if (index > 0) {
        if (part.place + 1 == options_.batch) hand_on_open(index);
        if (!parts_[index - 1].emits_again) leave(work, index - 1);
        return;
    }
    ++part.place;
    if (begins_frames() && part.place < part.token->frames && leads() && is_alone() && work.halting())
        part.token->frames = part.place;
    if (part.place < part.token->frames) return;
    hand_on(0, *std::exchange(part.token, nullptr));
    advance();
}

using StageWalk = BasicStageWalk<RealThreads, FrameFailure>;

}  // namespace tidemill

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <cxxabi.h>

#include "tidemill/runtime/graph/task.hpp"
#include "tidemill/runtime/threads/token_ring.hpp"

namespace tidemill {

/// How a thread goes along the tokens of its stage where its task takes several frames at once, of one token
/// or more: it holds tokens until a call's frames are there, and may have several such calls under way.
/// Tokens go on in their order, each when all of its frames are through.
///
/// `Walk` is the BasicStageWalk whose thread this is; what its `Work` has to offer is described there.
template <typename Walk>
class BatchWalk {
  public:
    using State = typename Walk::State;
    using Ring = typename Walk::Ring;
    using Token = typename Walk::Token;
    using Part = typename Walk::Part;
    using FrameAt = typename Walk::FrameAt;

    BatchWalk(State& state, const typename Walk::Options& options, Part& part)
        : ring_(state.ring(part.segment)), state_(state), options_(options), part_(part) {}

    /// Until the stream ends, with calls of at most so many frames, and so many of them under way.
    template <typename Work>
    void run(Work& work, std::uint32_t most_frames, std::uint32_t most_calls) {
        while (gather(work)) {
            begin(work, most_frames, most_calls);
            while (calls_.size() >= most_calls) end_oldest(work);
        }
    }

    /// A call that has begun, and has not ended.
    struct Call {
        std::size_t frames;
        bool is_under_way;  // there is something to end
    };
    const std::deque<Call>& calls() const { return calls_; }
    /// Those of the call that began first.
    std::span<const FrameAt> oldest() const {
        return std::span<const FrameAt>(frames_).first(calls_.front().frames);
    }
    /// Frames that are held, and have not begun.
    std::size_t gathered() const { return frames_.size() - begun_; }

  private:
    struct Held {
        TokenCursor cursor;
        std::size_t frames;  // that are not through
    };

    template <typename Work>
    bool gather(Work& work);
    template <typename Work>
    Token* first(Work& work);
    template <typename Work>
    Token* another(Work& work);
    template <typename Work>
    Token* look(Work& work);
    template <typename Work>
    bool waits_on(Work& work) const;
    template <typename Work>
    void begin(Work& work, std::uint32_t most_frames, std::uint32_t most_calls);
    template <typename Work>
    bool is_oldest_done(Work& work) const {
        return !calls_.empty() && (!calls_.front().is_under_way || work.is_oldest_done());
    }
    template <typename Work>
    void end_oldest(Work& work);
    void hold(Token& token);
    void pass_on(std::size_t frames);
    bool has_ended() const { return ring_.ended_before(part_.cursor.batch); }

    // As far as the processor looks for itself is not far enough: each token's cache line is another core's.
    static constexpr std::size_t kExpected = 4;

    Ring& ring_;
    State& state_;
    const typename Walk::Options& options_;
    Part& part_;
    std::vector<FrameAt> frames_;  // of the tokens that are held: first those of calls, then what is gathered
    std::size_t begun_ = 0;        // of them
    std::deque<Call> calls_;
    std::deque<Held> held_;
};

// Holds tokens while it waits for more of them, but never for long: they may be all that there are. False:
// the segment has ended, and nothing is under way.
template <typename Walk>
template <typename Work>
bool BatchWalk<Walk>::gather(Work& work) {
    Token* token = first(work);
    if (!token) return false;
    hold(*token);
    work.gathers();
    while (gathered() < options_.gather) {
        token = another(work);
        if (!token) break;
        hold(*token);
    }
    return true;
}

// While calls are under way it waits for these, too, and at the segment's end for nothing else.
template <typename Walk>
template <typename Work>
auto BatchWalk<Walk>::first(Work& work) -> Token* {
    while (!calls_.empty()) {
        if (Token* token = look(work)) return token;
        end_oldest(work);
    }
    Token* token = ring_.try_take(part_.cursor, part_.stage_index);
    if (!token)
        token = work.wait(part_, [&] { return ring_.take(part_.cursor, part_.stage_index, options_.pull); });
    return has_ended() ? nullptr : token;
}

template <typename Walk>
template <typename Work>
auto BatchWalk<Walk>::another(Work& work) -> Token* {
    for (;;) {
        if (Token* token = look(work)) return token;
        if (has_ended() || !is_oldest_done(work)) return nullptr;
        end_oldest(work);
    }
}

// Null where the segment has ended, the oldest call is done, or there was none for as long as one may wait.
template <typename Walk>
template <typename Work>
auto BatchWalk<Walk>::look(Work& work) -> Token* {
    constexpr long kNapNs = 200'000;      // to be woken costs less than to look
    constexpr long kShortNapNs = 50'000;  // nobody wakes for what is done elsewhere
    Token* token = ring_.try_take(part_.cursor, part_.stage_index);
    if (!token && waits_on(work)) {
        token = work.wait(part_, [&] {
            Token* found = nullptr;
            while (!found && waits_on(work))
                found = ring_.nap(part_.cursor, part_.stage_index, calls_.empty() ? kNapNs : kShortNapNs);
            return found;
        });
    }
    return has_ended() ? nullptr : token;
}

template <typename Walk>
template <typename Work>
bool BatchWalk<Walk>::waits_on(Work& work) const {
    if (has_ended() || is_oldest_done(work)) return false;
    return gathered() == 0 || work.gathers_on();
}

template <typename Walk>
void BatchWalk<Walk>::hold(Token& token) {
    if (options_.claims && part_.stage_index == 1) ring_.claim(token);
    const std::uint32_t frames = token.frames;
    for (std::uint32_t frame = 0; frame < frames; ++frame) frames_.push_back({&token, frame});
    held_.push_back({part_.cursor, frames});
    const std::uint64_t batch = part_.cursor.batch;
    ring_.advance(part_.cursor, options_.turns.next(batch) - batch);
    ring_.expect(part_.cursor, kExpected);
}

template <typename Walk>
template <typename Work>
void BatchWalk<Walk>::begin(Work& work, std::uint32_t most_frames, std::uint32_t most_calls) {
    while (gathered() > 0) {
        while (calls_.size() >= most_calls) end_oldest(work);
        const auto rest = std::span<const FrameAt>(frames_).subspan(begun_);
        const auto next = rest.first(std::min<std::size_t>(most_frames, rest.size()));
        part_.frame = next.front().number();
        const std::uint64_t limit = ring_.limit();
        // Numbers rise: mostly all of them are below it.
        const auto dead =
            next.back().number() < limit
                ? next.end()
                : std::ranges::find_if(next, [&](const FrameAt& at) { return at.number() >= limit; });
        const auto alive = next.first(static_cast<std::size_t>(dead - next.begin()));
        if (alive.empty()) {
            calls_.push_back({rest.size(), false});
        } else {
            Flow flow = Flow::ok;
            try {
                flow = work.begin_together(alive);
            } catch (const abi::__forced_unwind&) {  // the tokens are still this thread's to hand on
                calls_.push_back({alive.size(), false});
                begun_ += alive.size();
                throw;
            }
            if (flow == Flow::stop) state_.end_before(part_.segment, part_.frame, work.error());
            calls_.push_back({alive.size(), flow == Flow::again});
        }
        begun_ += calls_.back().frames;
    }
}

// Also where the stream has ended before it meanwhile: what is under way comes home.
template <typename Walk>
template <typename Work>
void BatchWalk<Walk>::end_oldest(Work& work) {
    const Call call = calls_.front();
    const std::span<const FrameAt> frames = oldest();
    part_.frame = frames.front().number();
    try {
        if (call.is_under_way && work.end_together() == Flow::stop)
            state_.end_before(part_.segment, part_.frame, work.error());
    } catch (const abi::__forced_unwind&) {
        calls_.front().is_under_way = false;
        throw;
    }
    for (const FrameAt& at : frames) {
        part_.frame = at.number();
        work.finish(0, at.mark(), [&] { return part_.frame < ring_.limit(); });
    }
    calls_.pop_front();
    frames_.erase(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(call.frames));
    begun_ -= call.frames;
    pass_on(call.frames);
}

template <typename Walk>
void BatchWalk<Walk>::pass_on(std::size_t frames) {
    while (frames > 0) {
        Held& held = held_.front();
        const std::size_t through = std::min(frames, held.frames);
        frames -= through;
        held.frames -= through;
        if (held.frames > 0) return;
        ring_.pass(ring_.token(held.cursor), held.cursor.batch, part_.stage_index);
        held_.pop_front();
    }
}

}  // namespace tidemill

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tidemill/runtime/execute/run_state_code.hpp"
#include "tidemill/runtime/execute/stage_walk.hpp"
#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/threads/internal/token_ring_code.hpp"
#include "tidemill/runtime/verify/testing/interleavings.hpp"
#include "tidemill/runtime/verify/testing/workshop.hpp"

/// Pipelines of the shipped ring, run state and walk on explored threads.
namespace tidemill::explore {

/// A stage of the pipeline; one that ends a segment has one thread and emits the next segment's frames.
struct StageShape {
    int threads = 1;
    bool ends_segment = false;
    std::vector<std::size_t> letters{};  // of a word with a letter for each thread; empty: they go in turn
    bool forgets_word = false;           // a wrong turn: the first thread goes in turn all the same
    std::vector<int> owners{};           // [thread]: equal ones are one thread; empty: threads of its own
    std::uint32_t batch = 1;             // frames that its task takes at once
    std::uint32_t under_way = 1;         // such batches at a time; several: done elsewhere, in any order
    bool waits_for_more = false;         // until a batch is full, however long that takes
    bool ends_unasked = false;           // a wrong turn: what was sent elsewhere is taken for done

    Turns turns_of(std::size_t replica) const {
        const bool in_turn = letters.empty() || (forgets_word && replica == 0);
        return in_turn ? Turns(static_cast<std::size_t>(threads)) : Turns(letters);
    }
};

/// Result of a task for one frame: 'h' skips it as a hole, 'S' stops, 'T' throws; of one that has batches
/// under way, 'T' throws where it ends and 'B' where it begins. Anything else is ok.
struct Event {
    std::uint32_t segment;
    std::uint32_t stage;  // of the segment
    std::uint64_t frame;
    char flow;
};

/// A pipeline, the flows of its tasks, and how its threads wait.
struct Scenario {
    std::vector<StageShape> stages;
    std::array<std::uint32_t, 2> tokens{1, 1};
    std::uint64_t frames = 3;
    WaitMode waiting = WaitMode::passive;
    bool halted_by_user = false;  // at any moment, or never
    std::vector<Event> events{};
    std::vector<std::string> emissions{};  // per frame at the segment's end: 'a'gain, 'o'k, 's'kip, 'S', 'T'
    Late late = Late::wait;                // of one thread that begins frames
    bool emits_skipped = false;            // a wrong turn: what was skipped at the segment's end is handed on
    bool waits_inside = false;             // a wrong turn: a thread that has begun a frame stays at its stage

    bool has_owners() const {
        return std::ranges::any_of(stages, [](const StageShape& stage) { return !stage.owners.empty(); });
    }

    char flow_at(std::uint32_t segment, std::uint32_t stage, std::uint64_t frame) const;
    char emission_at(std::uint64_t frame, std::size_t index) const;
};

inline char Scenario::flow_at(std::uint32_t segment, std::uint32_t stage, std::uint64_t frame) const {
    for (const Event& event : events) {
        if (event.segment == segment && event.stage == stage && event.frame == frame) return event.flow;
    }
    return 'o';
}

inline char Scenario::emission_at(std::uint64_t frame, std::size_t index) const {
    return frame < emissions.size() ? emissions[frame].at(index) : 'o';
}

/// The error of explored tasks.
struct ToldError {
    std::uint32_t segment;
    std::uint64_t frame;

    bool operator==(const ToldError&) const = default;
};

using ExploredRing = BasicTokenRing<ExploredThreads>;
using ExploredRun = BasicRunState<ExploredThreads, ToldError>;
using ExploredWalk = BasicStageWalk<ExploredThreads, ToldError>;
using ExploredToken = ExploredRing::Token;

/// How a stream ended before its source did: like the run's own outcome.
using Outcome = ExploredRun::Outcome;

inline std::uint8_t content_of(std::uint64_t source_frame, std::size_t emission) {
    return static_cast<std::uint8_t>(source_frame * 8 + emission);
}

/// Reports of threads on their work.
enum class Told : std::uint8_t { begins, works, emits, drops, delivers, is_through };

/// The holes of a frame that is lost where it begins: of a hole, 1.
inline constexpr std::uint64_t kLost = 2;

/// Among the tokens that are remarked on, the ring's spare one.
inline constexpr std::size_t kSpare = 4;

/// A remark about a token, as a word.
struct Remark {
    Told told;
    std::uint8_t segment = 0;
    std::uint8_t token = 0;
    std::uint8_t stage = 0;
    std::uint8_t frame = 0;
    std::uint8_t content = 0;
    std::uint16_t padding = 0;
};

/// Where the words of a run lie: what mutations and traces ask.
class WordNames {
  public:
    static constexpr Location kHalting = 0;
    static constexpr Location kBegun = 2;
    static constexpr Location kOutcome = 4;

    explicit WordNames(const Scenario& scenario)
        : tokens_(scenario.tokens),
          segments_(1 + static_cast<std::uint32_t>(
                            std::ranges::count(scenario.stages, true, &StageShape::ends_segment))) {}

    bool is_end(Location at) const { return at == bound(0) || at == bound(1); }
    bool is_limit(Location at) const { return at == bound(0) + 1 || at == bound(1) + 1; }
    bool is_turn(Location at) const { return of_token(at) == 0; }
    bool is_sleepers(Location at) const { return of_token(at) == 1; }
    bool is_claim(Location at) const { return of_token(at) == 6; }
    /// Bells of threads with several stages, in the order of their numbers.
    bool is_bell(Location at) const { return at >= first(segments_); }
    Location bell(std::size_t thread) const { return first(segments_) + thread; }
    std::uint32_t segment_of(Location at) const { return at < first(1) ? 0 : 1; }

    std::string name_of(Location at) const {
        static constexpr const char* kShared[] = {"halting", "ended", "begun", "mutex", "outcome"};
        static constexpr const char* kOfToken[] = {"turn",  "sleepers", "first frame", "frames",
                                                   "holes", "born",     "claim"};
        if (at < kFirst) return kShared[at];
        if (is_bell(at)) return fmt::format("bell or elsewhere {}", at - first(segments_));
        const std::uint32_t segment = segment_of(at);
        if (is_end(at)) return fmt::format("{}.end", segment);
        if (is_limit(at)) return fmt::format("{}.limit", segment);
        if (at > bound(segment) + 1)
            return fmt::format("{}.spare.{}", segment, kOfToken[at - bound(segment) - 2]);
        return fmt::format("{}.{}.{}", segment, (at - first(segment)) / kPerToken, kOfToken[of_token(at)]);
    }

  private:
    static constexpr Location kFirst = 5;
    static constexpr Location kPerToken = 7;

    // Behind the tokens of a ring: its end, its limit, and the spare token.
    Location first(std::uint32_t segment) const {
        return segment == 0 ? kFirst : bound(segment - 1) + 2 + kPerToken;
    }
    Location bound(std::uint32_t segment) const { return first(segment) + kPerToken * tokens_[segment]; }
    Location of_token(Location at) const {
        const std::uint32_t segment = segment_of(at);
        if (at < kFirst || is_bell(at) || at >= bound(segment)) return kPerToken;
        return (at - first(segment)) % kPerToken;
    }

    std::array<std::uint32_t, 2> tokens_;
    std::uint32_t segments_;
};

/// Where a batch is done that a stage has sent elsewhere: a thread of its own, which takes its time.
class Elsewhere {
  public:
    void send(std::uint64_t content) {
        content_ = content;
        state_.store(kSent, std::memory_order_release);  // pairs with the load in run()
    }
    bool is_done() const { return state_.load(std::memory_order_acquire) == kDone; }
    std::uint64_t wait() const {
        while (!is_done()) machine->request({Act::yield});
        return content_;
    }
    std::uint64_t unasked() const { return content_; }
    void leave() { state_.store(kOver, std::memory_order_release); }

    /// The thread.
    void run() {
        for (;;) {
            machine->landmark(1);
            const std::uint32_t state = state_.load(std::memory_order_acquire);
            if (state == kOver) return;
            if (state == kSent) {
                content_ = content_ ^ kSquared;
                state_.store(kDone, std::memory_order_release);  // pairs with the load in is_done()
            } else {
                machine->request({Act::yield});
            }
        }
    }
    static constexpr std::uint64_t kSquared = 0x1000;  ///< what is done to a content

  private:
    static constexpr std::uint32_t kSent = 1, kDone = 2, kOver = 3;

    ExploredThreads::Atomic<std::uint32_t> state_{0};
    ExploredThreads::Plain<std::uint64_t> content_{0};
};

class ExploredWork;

/// Work of one thread: a stage, or several.
using Desk = std::vector<const ExploredWork*>;

/// Code of one thread: the tasks of a stage are the scenario's flows.
class ExploredWork {
  public:
    ExploredWork(const Scenario& scenario, ExploredRun& run, const ExploredWalk& walk, std::size_t stage,
                 std::uint64_t lasts)
        : scenario_(scenario),
          run_(run),
          walk_(walk),
          last_segment_(run.segments() - 1),
          last_stage_(lasts),
          stage_(stage) {
        desk_ = {this};
    }

    /// Where its task has batches done.
    void sends_to(const std::vector<Elsewhere*>& places) { places_ = places; }

    /// Its thread has these stages; all of them are what it remembers.
    void sits_at(const Desk& desk) { desk_ = desk; }
    void is_over() {
        is_over_ = true;
        landmark(7, 0);
    }
    bool is_within_frame() const { return walk_.part(0).token != nullptr; }

    bool halting() {
        landmark(1, 0);
        const bool halting = run_.halting();
        halted_ |= halting;
        return halting;
    }

    // The content of a frame goes with its mark.
    void begin(ExploredToken& token, std::uint32_t frame) const { begin_with(token, frame, 0); }
    void begin_late(ExploredToken& spare) {
        is_spare_ = true;
        begin_with(spare, 0, scenario_.late == Late::drop_newest ? kLost : 0);
    }
    void drops(std::uint64_t frame) const { tell_of(Told::drops, 0, static_cast<std::uint8_t>(frame)); }

    Flow run(std::size_t part, ExploredToken& token, std::uint32_t frame) {
        if (part == 0) emitted_ = 0;
        landmark(2, part);
        tell(Told::works, part);
        ExploredToken::Mark& mark = token.mark(frame);
        const bool is_source = walk_.part(part).segment == 0 && walk_.part(part).stage_index == 0;
        const bool is_hole = mark.holes != 0 && !(is_source && mark.holes == kLost);
        const char flow = is_hole ? 'h' : flow_of(part);
        if (flow == 'T') error_ = ToldError{walk_.part(part).segment, walk_.part(part).frame};
        if (flow == 'S' || flow == 'T') return Flow::stop;
        if (flow == 'h') mark.holes = 1;
        if (flow == 'h') return Flow::skip;
        if (mark.holes == 0 && is_last(part))
            tell(Told::delivers, part, static_cast<std::uint8_t>(mark.born));
        return mark.holes == 0 ? Flow::ok : Flow::skip;
    }

    Flow emit(std::size_t part, const ExploredToken::Mark& mark, ExploredToken& out) {
        const char flow = scenario_.emission_at(walk_.part(part).frame, emitted_);
        if (flow == 'T') error_ = ToldError{walk_.part(part).segment, walk_.part(part).frame};
        if (flow == 'S' || flow == 'T') return Flow::stop;
        if (flow == 's' && !scenario_.emits_skipped) return Flow::skip;
        out.mark(out.frames).holes = std::uint64_t{mark.holes};
        out.mark(out.frames).born = content_of(walk_.part(part).frame, emitted_);
        tell(Told::emits, part + 1);
        if (flow == 's') out.mark(out.frames).holes = 1;
        ++emitted_;
        return flow == 'a' ? Flow::again : Flow::ok;
    }

    std::uint32_t most_together() const { return shape().batch; }
    std::uint32_t most_under_way() const { return shape().under_way; }
    void gathers() { landmark(8, 0); }
    bool gathers_on() const { return shape().waits_for_more; }

    // A batch throws as its first frame would; what comes back is the first one's content.
    Flow begin_together(std::span<const ExploredWalk::FrameAt> frames) {
        landmark(9, 0);
        for (const ExploredWalk::FrameAt& at : frames) tell_of(Told::works, at.mark(), at.number());
        if (flow_of(0) == 'B') error_ = ToldError{walk_.part(0).segment, walk_.part(0).frame};
        if (flow_of(0) == 'B') return Flow::stop;
        if (places_.empty()) return end_of(frames);
        places_[begun_++ % places_.size()]->send(frames.front().mark().born);
        return Flow::again;
    }
    bool is_oldest_done() const { return place_to_end().is_done(); }
    Flow end_together() {
        landmark(10, 0);
        const std::span<const ExploredWalk::FrameAt> frames = walk_.batches()->oldest();
        const Elsewhere& place = place_to_end();
        const std::uint64_t came = shape().ends_unasked ? place.unasked() : place.wait();
        ++ended_;
        frames.front().mark().born = came ^ Elsewhere::kSquared;
        return end_of(frames);
    }
    /// Its walk is over.
    void leaves() {
        for (Elsewhere* place : places_) place->leave();
    }

    std::optional<ToldError> error() { return std::exchange(error_, std::nullopt); }

    template <typename Alive>
    void finish(std::size_t part, const ExploredToken::Mark& mark, Alive /*is for statistics*/) {
        landmark(3, part);
        if (walk_.batches()) {
            tell_of(Told::is_through, mark, walk_.part(0).frame);
        } else {
            tell(Told::is_through, part);
        }
        is_spare_ = false;
    }

    template <typename Take>
    ExploredToken* wait(const ExploredWalk::Part& part, Take take) {
        landmark(4, part.segment);
        ExploredToken* token = take();
        landmark(token ? 5 : 6, part.segment);
        return token;
    }

  private:
    const StageShape& shape() const { return scenario_.stages[stage_]; }
    const Elsewhere& place_to_end() const { return *places_[ended_ % places_.size()]; }

    Flow end_of(std::span<const ExploredWalk::FrameAt> frames) {
        const char flow = flow_of(0);
        if (flow == 'T') error_ = ToldError{walk_.part(0).segment, walk_.part(0).frame};
        if (flow == 'T') return Flow::stop;
        for (const ExploredWalk::FrameAt& at : frames) {
            if (is_last(0) && at.mark().holes == 0)
                tell_of(Told::delivers, at.mark(), at.number(), static_cast<std::uint8_t>(at.mark().born));
        }
        return Flow::ok;
    }
    // Reports on one of several tokens that it holds: the cursor is ahead of them.
    void tell_of(Told told, const ExploredToken::Mark& mark, std::uint64_t frame,
                 std::uint8_t content = 0) const {
        const ExploredWalk::Part& p = walk_.part(0);
        ExploredRing& ring = run_.ring(p.segment);
        std::size_t token = 0;
        while (&ring.token({token, token}).first_mark != &mark) ++token;
        note(std::bit_cast<Word>(
            Remark{told, static_cast<std::uint8_t>(p.segment), static_cast<std::uint8_t>(token),
                   static_cast<std::uint8_t>(p.stage_index), static_cast<std::uint8_t>(frame), content}));
    }

    char flow_of(std::size_t part) const {
        const ExploredWalk::Part& p = walk_.part(part);
        return scenario_.flow_at(p.segment, p.stage_index, p.frame);
    }
    bool is_last(std::size_t part) const {
        return walk_.part(part).segment == last_segment_ && walk_.part(part).stage_index == last_stage_;
    }

    void begin_with(ExploredToken& token, std::uint32_t frame, std::uint64_t holes) const {
        const std::uint64_t number = token.first_frame + frame;
        token.mark(frame).holes = holes;
        token.mark(frame).born = content_of(number, 0);
        tell_of(Told::begins, 0, static_cast<std::uint8_t>(number));
    }

    void tell(Told told, std::size_t part, std::uint8_t content = 0) const {
        tell_of(told, part, static_cast<std::uint8_t>(walk_.part(part).frame), content);
    }
    void tell_of(Told told, std::size_t part, std::uint8_t frame, std::uint8_t content = 0) const {
        const ExploredWalk::Part& p = walk_.part(part);
        const std::size_t token = is_spare_ && part == 0 ? kSpare : p.cursor.index;
        note(std::bit_cast<Word>(Remark{told, static_cast<std::uint8_t>(p.segment),
                                        static_cast<std::uint8_t>(token),
                                        static_cast<std::uint8_t>(p.stage_index), frame, content}));
    }

    // All that the walks and works of a thread remember: a thread that comes here with the same goes on in
    // the same way.
    void landmark(Word where, Word part) const {
        Word key = mixed(where, part);
        for (const ExploredWork* work : desk_) key = work->remembered(mixed(key, work == this));
        machine->landmark(key);
    }

    Word remembered(Word key) const {
        for (std::size_t i = 0; i < walk_.parts(); ++i) {
            const ExploredWalk::Part& p = walk_.part(i);
            for (const Word word : {p.cursor.batch, p.next_frame, p.frame, Word{p.open != nullptr},
                                    Word{p.token != nullptr}, Word{p.place}, Word{p.emits_again}}) {
                key = mixed(key, word);
            }
        }
        if (const auto* batches = walk_.batches()) {
            key = mixed(mixed(key, batches->gathered()), begun_);
            for (const auto& call : batches->calls()) key = mixed(mixed(key, call.frames), call.is_under_way);
        }
        key = mixed(mixed(key, walk_.emitting()), is_over_);
        return mixed(mixed(mixed(key, halted_), is_spare_), emitted_);
    }

    const Scenario& scenario_;
    ExploredRun& run_;
    const ExploredWalk& walk_;
    std::uint64_t last_segment_;
    std::uint64_t last_stage_;
    Desk desk_;
    std::size_t stage_;  // of the pipeline
    std::vector<Elsewhere*> places_{};
    std::size_t begun_ = 0;  // of what was sent there
    std::size_t ended_ = 0;
    bool is_over_ = false;
    bool halted_ = false;
    bool is_spare_ = false;  // the frame in hand lies in the ring's spare token
    std::size_t emitted_ = 0;
    std::optional<ToldError> error_;
};

}  // namespace tidemill::explore

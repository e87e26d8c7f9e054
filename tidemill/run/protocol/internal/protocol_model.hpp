#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// What the model of the token protocol is about: pipelines, flows, states, and wrong turns.
namespace tidemill::model {

inline constexpr std::size_t kMostThreads = 8;
inline constexpr std::size_t kMostTokens = 4;

/// A wrong turn that the protocol might have taken; each must be caught.
enum class Mutation : std::uint8_t {
    none,
    wake_check_before_store,     // pass() looks for sleepers, then stores the turn
    sleep_without_compare,       // sleep() does not have the kernel look at the word once more
    no_wake,                     // pass() never wakes
    no_nudge,                    // close() wakes, but leaves the word as it was
    no_wake_on_close,            // close() changes the word, but wakes nobody
    nudge_before_end,            // close() rouses, then lowers the end
    end_is_next_frame,           // the leader of several threads ends the stream at its own next frame
    end_is_one_ring_on,          // the same, a ring's length further on
    frames_not_claimed,          // the threads of the first stage do not tell which frames they begin
    end_not_checked_after_take,  // a free token is taken for a frame beyond the end
    next_frame_gets_token,       // the last stage hands the token to frame k + 1, not k + P
    pass_before_work,            // the turn is given away before the token is used
    limit_not_lowered,           // a failure ends the source, but frames behind it are still worked on
    later_stop_forgotten,        // a stop does not count against a failure at a later frame
    first_failure_told,          // of several failures the first in time is told
    next_segment_not_closed,     // a stage that ends a segment leaves without ending the next one
    skipped_token_passed_on,     // a skip at a segment's end gives away the token it did not fill
};

/// A stage of the pipeline; one that ends a segment has one thread and emits the next segment's frames.
struct StageShape {
    int threads = 1;
    bool ends_segment = false;
};

/// What a task says of one frame: 'h' skips it as a hole, 'S' stops, 'T' throws. Anything else is ok.
struct Event {
    int segment;
    int stage;  // of the segment
    int frame;
    char flow;
};

/// A pipeline, the flows of its tasks, and how its threads wait.
struct Scenario {
    std::vector<StageShape> stages;
    std::array<int, 2> tokens{1, 1};
    int frames = 3;
    bool passive = true;
    bool halted_by_user = false;  // at any moment, or never
    std::vector<Event> events{};
    std::vector<std::string> emissions{};  // per frame at the segment's end: 'a'gain, 'o'k, 's'kip, 'S', 'T'
    Mutation mutation = Mutation::none;
};

/// The next atomic step of a thread.
enum class Pc : std::uint8_t {
    look_halting,
    lower_end,
    nudge,
    nudge_wake,
    try_take,
    spin,
    wait_end,
    count_sleeper,
    look_turn,
    look_end,
    fall_asleep,
    asleep,
    uncount_sleeper,
    claim,
    shut,
    look_limit,
    emit_limit,
    record,
    lower_upstream,
    lower_own,
    halt,
    store_turn,
    look_sleepers,
    wake,
    user_halt,
    done,
};

/// For traces.
inline std::string_view name_of(Pc pc) {
    static constexpr std::string_view kNames[] = {
        "look_halting",    "lower_end",     "nudge",     "nudge_wake", "try_take",      "spin",
        "wait_end",        "count_sleeper", "look_turn", "look_end",   "fall_asleep",   "asleep",
        "uncount_sleeper", "claim",         "shut",      "look_limit", "emit_limit",    "record",
        "lower_upstream",  "lower_own",     "halt",      "store_turn", "look_sleepers", "wake",
        "user_halt",       "done"};
    return kNames[static_cast<std::size_t>(pc)];
}

struct ThreadState {
    Pc pc;
    std::uint8_t level;     // 0: its first part; 1: the segment that it begins
    std::uint8_t frame[2];  // cursors
    std::uint8_t seen;      // the turn word before sleeping
    std::uint8_t emitted;
    std::uint8_t at : 7;     // the token to nudge
    std::uint8_t wakes : 1;  // it saw sleepers
    std::uint8_t flags;      // of Machine
};

struct TokenState {
    std::uint8_t turn;
    std::uint8_t sleepers;
    std::uint8_t holder;  // thread + 1
    std::uint8_t stage;   // that worked on it last, + 1
    std::uint8_t content;
    std::uint8_t hole;
};

struct RingState {
    std::uint8_t end;
    std::uint8_t limit;
    TokenState tokens[kMostTokens];
};

/// How a stream ended before its source did.
struct Outcome {
    std::uint8_t kind;  // 0, 'S' or 'T'
    std::uint8_t segment;
    std::uint8_t frame;

    bool operator==(const Outcome&) const = default;
};

struct State {
    ThreadState threads[kMostThreads];
    RingState rings[2];
    std::uint8_t halting;
    Outcome outcome;
    std::uint16_t delivered;  // one bit per frame of the last segment
    std::uint8_t claimed;     // source frames that several threads have begun
    std::uint8_t shut;        // no more may be begun
    std::uint8_t padding[4];
};
static_assert(sizeof(State) == 128);

/// A frame was lost, doubled, reordered or shared.
struct Violation : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline std::uint8_t content_of(int source_frame, int emission) {
    return static_cast<std::uint8_t>(source_frame * 8 + emission);
}

}  // namespace tidemill::model

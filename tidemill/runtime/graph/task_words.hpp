#pragma once

#include <cstdint>
#include <type_traits>

#include "tidemill/runtime/graph/task.hpp"

namespace tidemill {

namespace internal {

/// A word with which a task's author promises something: `task("gain", pure, in<float>("x"), out<float>("y"),
/// function)`, or `task("gain", &Gain::run, pure)` in a module.
template <auto kPromise>
struct Said {};

}  // namespace internal

/// One object serves all threads. Compiles only for what can be called through const; that nothing changes
/// behind references, pointers and globals that the function uses is its author's promise.
inline constexpr internal::Said<Replication::pure> pure{};

/// Every thread has a copy. What a call gives depends on its inputs and the frame number alone: a copy keeps
/// scratch, or totals that merge() adds up. A copied reference or pointer still refers to the same thing.
inline constexpr internal::Said<Replication::cloned> cloned{};

/// One thread, frames in order.
inline constexpr internal::Said<Replication::sequential> sequential{};

/// May return Flow::skip.
inline constexpr internal::Said<Flow::skip> may_skip{};

/// May return Flow::again; sequential tasks only.
inline constexpr internal::Said<Flow::again> may_repeat{};

namespace internal {

struct MayWait {};

}  // namespace internal

/// May wait for what is outside the graph: the program around it, a clock, a radio. Dynamic scheduling holds
/// up nothing else for it: it takes such a task alone, when there is nothing else to do.
inline constexpr internal::Said<internal::MayWait{}> may_wait{};

namespace internal {

struct AtEnd {};

}  // namespace internal

/// Sees the stream's end: behind its last frame the task is called once more, and again for each Flow::again,
/// with Frame::at_end() true and inputs without elements; what it gives goes on as a frame. Sequential tasks
/// only.
inline constexpr internal::Said<internal::AtEnd{}> at_end{};

/// The most frames that a task takes at once.
struct MostFrames {
    std::uint32_t frames;
};

/// The function takes a Batch of up to so many frames, and returns nothing. It gets more than one where the
/// task has a stage of a pipeline to itself.
template <std::uint32_t kFrames>
inline constexpr internal::Said<MostFrames{kFrames}> in_batches_of{};

namespace internal {

template <class T>
inline constexpr bool kIsWord = false;
template <auto kPromise>
inline constexpr bool kIsWord<Said<kPromise>> = true;

template <class T>
inline constexpr bool kSaysReplication = false;
template <Replication kReplication>
inline constexpr bool kSaysReplication<Said<kReplication>> = true;

constexpr void promise(TaskOptions& options, Said<Flow::skip>) {
    options.may_skip = true;
}
constexpr void promise(TaskOptions& options, Said<Flow::again>) {
    options.may_repeat = true;
}
constexpr void promise(TaskOptions& options, Said<MayWait{}>) {
    options.may_wait = true;
}
constexpr void promise(TaskOptions& options, Said<AtEnd{}>) {
    options.at_end = true;
}
template <MostFrames kMost>
constexpr void promise(TaskOptions& options, Said<kMost>) {
    static_assert(kMost.frames > 0, "a batch has at least one frame");
    options.batch = kMost.frames;
}
template <Replication kReplication>
constexpr void promise(TaskOptions& options, Said<kReplication>) {
    options.replication = kReplication;
}

template <class T>
concept TaskWord = kIsWord<T>;

/// True when one of the words is this one.
template <class Wanted, TaskWord... Words>
inline constexpr bool kSays = (std::is_same_v<Wanted, Words> || ...);

/// Promises of a task with these words.
template <TaskWord... Words>
constexpr TaskOptions options_of() {
    static_assert((0 + ... + int{kSaysReplication<Words>}) <= 1,
                  "a task is pure, cloned or sequential: say one of them");
    TaskOptions options;
    (promise(options, Words{}), ...);
    return options;
}

}  // namespace internal

}  // namespace tidemill

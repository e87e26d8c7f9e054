#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "tidemill/runtime/graph/frame.hpp"

namespace tidemill {

class Module;

/// Result of a task for the frame that it was called with.
enum class Flow : std::uint8_t {
    ok,     ///< the frame goes on
    skip,   ///< the frame ends here: what depends on the task does not run
    again,  ///< the frame goes on, and the task has more output before it needs new input
    stop,   ///< the stream ends before this frame
};

/// How a task may be run by several threads.
enum class Replication : std::uint8_t {
    pure,        ///< one object serves all threads
    cloned,      ///< one deep copy per thread; outputs depend on the inputs and the frame number alone
    sequential,  ///< one thread, frames in order
};

/// Where a task's replication comes from.
enum class Basis : std::uint8_t {
    word,     ///< its author said it, or it can only be sequential
    form,     ///< pure, since it is a callable that holds nothing and makes outputs of inputs
    silence,  ///< sequential, though it can be called through const: nobody said that it is pure
};

/// Promises of a task: the words of its declaration (task_words.hpp), or what a program finds at run time.
struct TaskOptions {
    Replication replication = Replication::sequential;
    bool may_skip = false;        ///< may return Flow::skip
    bool may_repeat = false;      ///< may return Flow::again; sequential tasks only
    bool may_wait = false;        ///< may wait for what is outside the graph
    bool at_end = false;          ///< called once more behind the stream's last frame; sequential tasks only
    std::uint32_t batch = 1;      ///< most frames of a call, for a function that takes a Batch
    std::uint32_t in_flight = 1;  ///< most batches under way at a time, of a task that begins and ends them
};

/// A task of a module.
struct Task {
    const Module* module;
    std::uint32_t index;
};

namespace internal {

/// Roles of the tasks of a switch or a loop for the executor, which does their work itself.
enum class ControlKind : std::uint8_t { none, switch_commute, switch_select, loop_select, loop_commute };

/// Value that a control task returns: look at its kind for what comes next.
inline constexpr Flow kControlFlow{0xff};

/// The function behind a task, stored by value: a member function pointer.
struct TaskCode {
    alignas(void*) std::array<std::byte, 2 * sizeof(void*)> bytes{};
};

/// For what is called in a task's stead: a code that holds where `object` is, and the way back.
template <class T>
TaskCode code_that_points_to(const T& object) {
    TaskCode code;
    const T* pointer = &object;
    std::memcpy(code.bytes.data(), &pointer, sizeof(pointer));
    return code;
}
template <class T>
T& pointed_to(const TaskCode& code) {
    T* pointer = nullptr;
    std::memcpy(&pointer, code.bytes.data(), sizeof(pointer));
    return *pointer;
}

/// Calls the function in `code` on the module that owns the task.
using TaskCall = Flow (*)(Module& module, const TaskCode& code, Frame frame);

/// How to call a task, or what is called in its stead.
struct BoundCall {
    TaskCall call;
    TaskCode code;

    Flow operator()(Module& module, Frame frame) const { return call(module, code, frame); }
};

/// Calls a function that takes a Batch; it goes on with all frames.
using BatchCall = void (*)(Module& module, const TaskCode& code, Batch batch);

/// Begins and ends batches, several of which are under way at a time: each in a place of the module's own.
struct FlightCalls {
    void (*begin)(Module& module, Batch batch, std::size_t place);
    bool (*is_done)(Module& module, std::size_t place);
    void (*end)(Module& module, Batch batch, std::size_t place);
};

}  // namespace internal

/// Facts of a task: immutable, shared by all frames and threads.
struct TaskInfo {
    std::string name;
    TaskOptions options;
    internal::TaskCall call;
    internal::TaskCode code;
    internal::ControlKind control = internal::ControlKind::none;
    Basis basis = Basis::word;
    internal::BatchCall batch_call =
        nullptr;  ///< of a task that takes several frames at once; `call` gives it one
    const internal::FlightCalls* flight = nullptr;  ///< of one that begins and ends them
    std::uint32_t recalls =
        0;  ///< without inputs, it gives what its module has kept of a frame so much earlier

    /// A sequential task that may skip or repeat: frames are numbered anew after it.
    bool ends_segment() const {
        return options.replication == Replication::sequential && (options.may_skip || options.may_repeat);
    }
};

}  // namespace tidemill

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/runtime/graph/module.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/runtime/report/run_options.hpp"

namespace tidemill {

template <typename Threads>
struct BasicToken;
struct RealThreads;

/// How frames wait between a stream and the program around it.
struct HandOverOptions {
    std::size_t frames = 16;                ///< that may wait
    WaitMode waiting = WaitMode::passive;   ///< of both sides
    std::chrono::milliseconds patience{0};  ///< how long the stream waits for the program; 0: for ever
};

namespace internal {

class HandOver;
using Token = BasicToken<RealThreads>;

[[noreturn]] void throw_no_function();

/// The function that it is given. Throws GraphError where that is none.
template <class Function>
Function some(Function function) {
    if (!function) throw_no_function();
    return function;
}

/// Common part of inlets of all types.
class InletBase : public Module {
  public:
    static constexpr bool kHoldsNothing = true;
    ~InletBase() override;

    /// No more comes: the stream ends behind the last whole frame. Returns how many elements were given that
    /// fill no frame: they are left out. Once is enough; pushing after it throws RunError, and so does
    /// closing an inlet that asks: its function ends the stream.
    std::size_t close();

    void begin(const Run& run) override;
    void end() override;
    /// Forgets what waits, and is open again.
    void reset() override;

  protected:
    InletBase(std::size_t element_bytes, std::size_t count, const HandOverOptions& options);

    std::size_t push_bytes(const std::byte* from, std::size_t elements, bool waits);
    std::span<std::byte> room(bool waits);
    void fill(std::size_t elements);
    Flow take(const Frame& f, std::byte* to);
    /// Nothing is pushed from now on: attempts are refused.
    void asks() { asks_ = true; }

  private:
    struct Filling;

    void check_open() const;
    Token* next_place(bool waits);
    Token* next_frame(const Frame& f);

    std::size_t element_bytes_;
    std::size_t count_;
    HandOverOptions options_;
    bool asks_ = false;
    std::unique_ptr<HandOver> frames_;
    std::stop_token stop_{};
    std::unique_ptr<Filling> filling_;
};

/// The same of outlets.
class OutletBase : public Module {
  public:
    static constexpr bool kHoldsNothing = true;
    ~OutletBase() override;

    /// The number of the frame that the next element is of; kEndless where none is there now.
    std::uint64_t frame();

    void begin(const Run& run) override;
    void end() override;
    /// Forgets what waits.
    void reset() override;

  protected:
    OutletBase(std::size_t element_bytes, std::size_t count, const HandOverOptions& options);

    std::size_t pull_bytes(std::byte* to, std::size_t elements, bool waits);
    std::span<const std::byte> view(bool waits);
    void release(std::size_t elements);
    void give(const Frame& f, const std::byte* from);
    /// Nothing is pulled from now on: attempts are refused.
    void tells() { tells_ = true; }

  private:
    struct Front;

    bool look(bool waits);
    Token* next_place(const Frame& f);

    std::size_t element_bytes_;
    std::size_t count_;
    HandOverOptions options_;
    bool tells_ = false;
    std::unique_ptr<HandOver> frames_;
    std::unique_ptr<Front> front_;
};

}  // namespace internal

/// Where a program feeds a stream that runs inside it: `graph.add<Inlet<float>>(1024)` is a source of frames
/// of 1024 floats. One thread of the program's at a time pushes; frames wait here until the stream takes
/// them. While there is none the stream waits, and where it may drop late frames (Late), it drops what is
/// pushed when it has no room.
///
///     auto& samples = graph.add<Inlet<float>>(1024);
///     Started run(pipeline);
///     samples.push(heard);  // any number of elements, as often as you like
///     samples.close();
///     run.join();
template <class T>
class Inlet final : public internal::InletBase {
  public:
    /// Gives the elements of one frame, in place, and says whether the stream goes on: false ends it before
    /// this frame. Called by the stream's thread; what it throws ends the run.
    using Fill = std::function<bool(std::span<T>)>;

    /// Throws GraphError when no frame may wait, or for options that make no sense.
    explicit Inlet(std::size_t count, const HandOverOptions& options = {})
        : InletBase(sizeof(T), count, options), data(out<T>("data", count)) {
        task("feed", &Inlet::feed, may_wait);
    }

    /// An inlet that asks: nothing waits here, and what is pushed is refused. Throws GraphError for no
    /// function.
    Inlet(std::size_t count, Fill ask) : Inlet(count) {
        ask_ = internal::some(std::move(ask));
        asks();
    }

    Out<T> data;

    /// Copies all elements in, and waits where there is no room. Throws RunError when the inlet was closed,
    /// or when there is no room and the run has been over for a second: nobody will take them.
    void push(std::span<const T> elements) { push_bytes(bytes_of(elements), elements.size(), true); }

    /// Copies as many as there is room for, and says how many; throws likewise.
    std::size_t try_push(std::span<const T> elements) {
        return push_bytes(bytes_of(elements), elements.size(), false);
    }

    /// Room for the next elements, up to the end of a frame, to be written in place and then committed. Waits
    /// until there is some; throws as push() does.
    std::span<T> place() { return typed(room(true)); }
    /// The same, but empty where there is no room now.
    std::span<T> try_place() { return typed(room(false)); }
    /// The first `elements` of the place that was given last are written. Throws RunError for more than it
    /// had.
    void commit(std::size_t elements) { fill(elements); }

  private:
    static const std::byte* bytes_of(std::span<const T> elements) {
        return reinterpret_cast<const std::byte*>(elements.data());
    }
    static std::span<T> typed(std::span<std::byte> bytes) {
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    Flow feed(Frame f) {
        if (ask_) return ask_(f[data]) ? Flow::ok : Flow::stop;
        return take(f, reinterpret_cast<std::byte*>(f[data].data()));
    }

    Fill ask_{};
};

/// Where a program takes what a stream makes: `graph.add<Outlet<float>>(64)` is a sink for frames of 64
/// floats. One thread of the program's at a time pulls. Where nobody does, the stream waits, for ever if its
/// patience is not limited; a run that is asked to stop waits no more, and what it still delivers can be
/// pulled after it.
template <class T>
class Outlet final : public internal::OutletBase {
  public:
    /// Gets each frame, in place. Called by the stream's thread; what it throws ends the run.
    using Tell = std::function<void(std::span<const T>)>;

    /// Throws GraphError when no frame may wait, or for options that make no sense.
    explicit Outlet(std::size_t count, const HandOverOptions& options = {})
        : OutletBase(sizeof(T), count, options), data(in<T>("data", count)) {
        task("empty", &Outlet::empty, may_wait);
    }

    /// An outlet with a function: nothing waits here, and pulls are refused. Throws GraphError for no
    /// function.
    Outlet(std::size_t count, Tell tell) : Outlet(count) {
        tell_ = internal::some(std::move(tell));
        tells();
    }

    In<T> data;

    /// Fills `to`, and waits until it has. Says how many elements it got: fewer where the run has ended, none
    /// when all that it delivered was pulled.
    std::size_t pull(std::span<T> to) {
        return pull_bytes(reinterpret_cast<std::byte*>(to.data()), to.size(), true);
    }
    /// The same with what is there now.
    std::size_t try_pull(std::span<T> to) {
        return pull_bytes(reinterpret_cast<std::byte*>(to.data()), to.size(), false);
    }

    /// The next elements in place, up to the end of a frame: until they are released. Waits until there are
    /// some; empty when the run has ended.
    std::span<const T> front() { return typed(view(true)); }
    /// The same, but empty, too, where there is nothing now.
    std::span<const T> try_front() { return typed(view(false)); }
    /// The first `elements` of what was shown last are done with. Throws RunError for more than that.
    void done(std::size_t elements) { release(elements); }

  private:
    static std::span<const T> typed(std::span<const std::byte> bytes) {
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    void empty(Frame f) {
        if (tell_) return tell_(f[data]);
        give(f, reinterpret_cast<const std::byte*>(f[data].data()));
    }

    Tell tell_{};
};

/// A run on a thread of its own, the only one that it makes: for programs that have something else to do.
///
///     Started run(pipeline, {.late = Late::drop_newest}, [](const std::exception& error) { tell(error); });
///     pipeline.set(amp.gain, 2.0f);  // knobs are turned from any thread
///     run.stop();
///     const RunReport report = run.join();
class Started {
  public:
    /// Gets the failure of the run, by its thread; what it throws is of no consequence.
    using OnError = std::function<void(const std::exception&)>;

    /// Starts `executor.run(options)`. The executor must outlive this.
    template <class Executor>
    explicit Started(Executor& executor, RunOptions options = {}, OnError on_error = {})
        : Started(std::function([&executor](const RunOptions& asked) { return executor.run(asked); }),
                  std::move(options), std::move(on_error)) {}

    /// Stops the run, and waits until it is over.
    ~Started();
    Started(Started&&) noexcept;

    /// Asks the run to end: frames that have begun are delivered. Does not wait.
    void stop();

    /// Whether the run has not ended yet; what was moved elsewhere runs there.
    bool running() const;

    /// Waits until the run is over; throws what it threw. The second time it throws RunError, and so it does
    /// when the run was moved elsewhere.
    RunReport join();

  private:
    Started(std::function<RunReport(const RunOptions&)> run, RunOptions options, OnError on_error);
    struct Thread;

    std::unique_ptr<Thread> thread_;
};

}  // namespace tidemill

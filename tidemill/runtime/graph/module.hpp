#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tidemill/runtime/graph/archive.hpp"
#include "tidemill/runtime/graph/knob.hpp"
#include "tidemill/runtime/graph/socket.hpp"
#include "tidemill/runtime/graph/task_words.hpp"

namespace tidemill {

/// A run that begins, as its modules see it.
struct Run {
    std::uint64_t first_frame;  ///< the number of the first frame that the module's first task will see
    bool goes_on;               ///< the stream has begun before: this run resumes it
    bool parted;                ///< tasks of the module are in several units, and may run at the same time
};

/// Owns state and the tasks that work on it.
///
/// A derived class declares its sockets and tasks as members: a task has the sockets that are
/// declared since the task before it.
///
///     class Counter : public tidemill::Module {
///       public:
///         tidemill::Out<int> value = out<int>("value", 1);
///         tidemill::Task     next  = task("next", &Counter::count);
///       private:
///         void count(tidemill::Frame f) { f[value][0] = n_++; }
///         int n_ = 0;
///     };
class Module {
  public:
    /// Without a name, the graph names the module after its type.
    explicit Module(std::string name = {}) : name_(std::move(name)) {}
    virtual ~Module() = default;

    const std::string& name() const { return name_; }
    std::span<const SocketInfo> sockets() const { return sockets_; }
    std::span<const TaskInfo> tasks() const { return tasks_; }

    /// The socket of that name; throws GraphError naming those there are.
    SocketRef operator[](std::string_view socket) const;

    /// The same, or nothing.
    std::optional<SocketRef> find_socket(std::string_view socket) const;

    /// The knob of that name; throws GraphError where there is none, or one of another type.
    template <class T>
    Knob<T> find_knob(std::string_view name) const {
        using Number = typename internal::KnobElement<T>::Type;
        const SocketRef found = (*this)[name];
        check_is_knob(found.index, element_type<Number>(), std::is_same_v<T, Number>);
        return {this, found.index, narrow(sockets_[found.index].count)};
    }

    /// How many elements a frame has of a socket of this module, as of the one that it is a clone of; of one
    /// whose count follows from bindings, none before them.
    std::size_t count_of(SocketRef socket) const { return sockets_[socket.index].count; }

    /// "module.socket", for messages.
    std::string path_of_socket(std::uint32_t index) const { return name_ + "." + sockets_[index].name; }
    /// "module.task", for messages, profiles and schedules.
    std::string path_of_task(std::uint32_t index) const { return name_ + "." + tasks_[index].name; }

    /// True when tasks of this module may sit in different stages, because they share no state.
    bool tasks_independent() const { return tasks_independent_; }

    /// A run begins: opens what the tasks will need. In the order of the graph, by the thread that runs,
    /// before clones are made and tasks are called. What it throws ends the run before it has begun.
    virtual void begin(const Run& /*run*/) {}

    /// The run is over, also where it failed: closes what begin() opened. In reverse order, by the same
    /// thread.
    virtual void end() {}

    /// Back to what the module was when it was made: see Graph::reset().
    virtual void reset() {}

    /// Keeps what the module holds from frame to frame, or gets it back: see Archive. Called between frames.
    /// A sink that writes a file keeps where it is in it, and goes there when it gets that back.
    virtual void keep(Archive& /*archive*/) {}

    /// Sets the totals that this module keeps to nothing; called once on each fresh clone.
    virtual void reset_counters() {}

    /// Adds the totals that a clone kept to this module's; called once per clone after a run. A module that
    /// overrides it overrides reset_counters(), too: else a clone brings back what it was copied with.
    virtual void merge(Module& /*clone*/) {}

    /// Its sockets and the bindings of its graph name this object.
    Module& operator=(const Module&) = delete;

  protected:
    /// For clones, which the graph makes, and for modules before they are added; throws GraphError for one
    /// that is in a graph: a copy of it is no part of the graph.
    Module(const Module& other);

    /// An input of `count` elements per frame.
    template <class T>
    In<T> in(std::string name, std::size_t count = 1) {
        return declare_typed<T, Direction::in>(std::move(name), count);
    }
    /// An output of `count` elements per frame.
    template <class T>
    Out<T> out(std::string name, std::size_t count = 1) {
        return declare_typed<T, Direction::out>(std::move(name), count);
    }
    /// An input that the task changes in place and passes on.
    template <class T>
    Forward<T> forward(std::string name, std::size_t count = 1) {
        return declare_typed<T, Direction::forward>(std::move(name), count);
    }

    /// An input that need not be bound. Throws GraphError for another number of values than 1 or `count`, and
    /// for none.
    template <class T>
    In<T> in(std::string name, std::size_t count, const OrElse<std::type_identity_t<T>>& otherwise) {
        return with_default(declare_typed<T, Direction::in>(std::move(name), count), otherwise);
    }
    template <class T>
    In<T> in(std::string name, const OrElse<std::type_identity_t<T>>& otherwise) {
        return in<T>(std::move(name), 1, otherwise);
    }
    /// The same that varies: without a binding it holds as many elements as there are values, at most `most`.
    template <class T>
    InUpTo<T> in(std::string name, UpTo most, const OrElse<std::type_identity_t<T>>& otherwise) {
        return with_default(declare_typed<T, Direction::in>(std::move(name), most), otherwise);
    }

    /// The same of which a frame holds up to so many elements: an output as many as its task says, none
    /// before it does; an input as many as it is given.
    template <class T>
    InUpTo<T> in(std::string name, UpTo most) {
        return declare_typed<T, Direction::in>(std::move(name), most);
    }
    template <class T>
    OutUpTo<T> out(std::string name, UpTo most) {
        return declare_typed<T, Direction::out>(std::move(name), most);
    }
    template <class T>
    ForwardUpTo<T> forward(std::string name, UpTo most) {
        return declare_typed<T, Direction::forward>(std::move(name), most);
    }

    /// The same of which a binding says how many elements it has: any, or as many as another socket of this
    /// module. The graph refuses what stays open.
    template <class T>
    InAny<T> in(std::string name, Any count) {
        return declare_typed<T, Direction::in>(std::move(name), std::move(count));
    }
    template <class T>
    OutAny<T> out(std::string name, Any count) {
        return declare_typed<T, Direction::out>(std::move(name), std::move(count));
    }
    template <class T>
    ForwardAny<T> forward(std::string name, Any count) {
        return declare_typed<T, Direction::forward>(std::move(name), std::move(count));
    }
    /// An input that need not be bound where another socket says its count; of one value, for all elements.
    template <class T>
    InAny<T> in(std::string name, Any count, const OrElse<std::type_identity_t<T>>& otherwise) {
        return with_default(declare_typed<T, Direction::in>(std::move(name), std::move(count)), otherwise);
    }

    /// A label that the task gives or, of a const type, reads. Its socket is named after it, unless a task
    /// that changes it needs two.
    template <class T>
    Label<T> label(std::string name, std::string socket = {}) {
        const Direction direction = std::is_const_v<T> ? Direction::in : Direction::out;
        const ElementType type = element_type<std::remove_const_t<T>>();
        const std::uint32_t index = declare(socket.empty() ? name : std::move(socket), direction, type, 1);
        sockets_[index].label = std::move(name);
        return {this, index};
    }

    /// Marks that the task gives on the elements of an output or, of a const type, reads on those of an
    /// input: a list of up to so many. They are a label, so two lists of one name take two socket names.
    /// Throws GraphError where `of` is no such socket of the same task.
    template <class T>
    Marks<T> marks(std::string name, SocketRef of, UpTo most = upto(16), std::string socket = {}) {
        const Direction direction = std::is_const_v<T> ? Direction::forward : Direction::out;
        const ElementType type = element_type<Mark<std::remove_const_t<T>>>();
        const std::uint32_t index =
            declare(socket.empty() ? name : std::move(socket), direction, type, most.count);
        sockets_[index].label = std::move(name);
        declare_marks(index, of, std::is_const_v<T>);
        return {this, index, narrow(most.count), sockets_[of.index].count};
    }

    /// A value that is set from outside while the stream runs; all tasks of this module may read it. Throws
    /// GraphError where `initial` is no number or out of `range`.
    template <class T>
    Knob<T> knob(std::string name, T initial, Range range = {}) {
        using Number = typename internal::KnobElement<T>::Type;
        KnobInfo info = internal::knob_info(initial, range);
        const std::size_t count = info.initial.size() / sizeof(Number);
        return {this, declare_knob(std::move(name), element_type<Number>(), count, std::move(info)),
                narrow(count)};
    }

    /// An input of a loop that is read a turn after it was written.
    template <class T>
    In<T> late_in(std::string name, std::size_t count = 1) {
        const In<T> socket = in<T>(std::move(name), count);
        sockets_[socket.index].late = true;
        return socket;
    }

    /// A socket of any direction and count: for code that declares sockets on behalf of others.
    template <class T, Direction kDirection, class Count>
    TypedSocket<T, kDirection, Count> declare_typed(std::string name, Count count) {
        const std::uint32_t index = declare(std::move(name), kDirection, element_type<T>(), std::move(count));
        return {this, index, sockets_[index].follows ? 0 : narrow(sockets_[index].count)};
    }

    /// A task that the executor itself carries out.
    Task control_task(std::string name, internal::ControlKind kind);

    /// A task that calls a member function, which returns Flow, or void for Flow::ok. It is sequential,
    /// unless a word says otherwise. A function that takes a Batch returns void.
    template <class M, class F, internal::TaskWord... Words>
    requires std::is_function_v<F> Task task(std::string name, F M::*function, Words...) {
        constexpr bool kConst =
            std::is_invocable_v<F M::*, const M&, Frame> || std::is_invocable_v<F M::*, const M&, Batch>;
        static_assert(kConst || !internal::kSays<internal::Said<Replication::pure>, Words...>,
                      "a pure task can be called through const: declare its function const");
        return declare_task(std::move(name), function, internal::options_of<Words...>(),
                            kConst && sizeof...(Words) == 0 ? Basis::silence : Basis::word);
    }

    /// The same with promises that are known at run time only.
    template <class M, class F>
    requires std::is_function_v<F> Task task(std::string name, F M::*function, TaskOptions options) {
        return declare_task(std::move(name), function, options, Basis::word);
    }

    /// A task that has up to TaskOptions::in_flight batches under way at a time, each in one of as many
    /// places: `kBegin(batch, place)` sends it off, `kIsDone(place)` says that its end would not wait, and
    /// `kEnd(batch, place)`, with the same frames, waits and fills in what they give. Batches end in the
    /// order in which they began, also where the stream has ended meanwhile; one whose begin throws never
    /// began. Throws GraphError for a pure task: threads would share the places.
    template <auto kBegin, auto kIsDone, auto kEnd>
    Task task_in_flight(std::string name, TaskOptions options) {
        using M = typename internal::MemberOf<decltype(kBegin)>::Class;
        static constexpr internal::FlightCalls kCalls{
            [](Module& module, Batch batch, std::size_t place) {
                (static_cast<M&>(module).*kBegin)(batch, place);
            },
            [](Module& module, std::size_t place) { return (static_cast<M&>(module).*kIsDone)(place); },
            [](Module& module, Batch batch, std::size_t place) {
                (static_cast<M&>(module).*kEnd)(batch, place);
            }};
        TaskInfo info{std::move(name), options, &fly_with_one<M, kBegin, kEnd>, {}};
        info.batch_call = &fly_with_batch<M, kBegin, kEnd>;
        info.flight = &kCalls;
        return declare_task(std::move(info));
    }

    template <class... Others>
    Task task(const std::string& /*name*/, const Others&...) {
        static_assert(internal::kNever<Others...>,
                      "a module's task is a name, a member function, words: task(\"run\", &Gain::run, pure)");
        return {};
    }

    /// The same with a basis: for code that declares tasks on behalf of others.
    template <class M, class F>
    Task declare_task(std::string name, F M::*function, TaskOptions options, Basis basis) {
        internal::TaskCode code;
        static_assert(sizeof(function) <= sizeof(code.bytes));
        std::memcpy(code.bytes.data(), &function, sizeof(function));
        TaskInfo info{std::move(name), options, nullptr, code, internal::ControlKind::none, basis};
        if constexpr (std::is_invocable_v<F M::*, M&, Batch>) {
            static_assert(std::is_void_v<std::invoke_result_t<F M::*, M&, Batch>>,
                          "a task that takes a batch returns nothing: all frames go on");
            info.call = &call_with_one<M, F>;
            info.batch_call = &call_with_batch<M, F>;
        } else {
            constexpr bool kTakesFrame = std::is_invocable_v<F M::*, M&, Frame>;
            static_assert(kTakesFrame, "a task's member function takes a Frame, or a Batch");
            if constexpr (kTakesFrame) {
                using R = std::invoke_result_t<F M::*, M&, Frame>;
                static_assert(std::is_same_v<R, Flow> || std::is_void_v<R>, "a task returns Flow or nothing");
                info.call = &call_member<M, F>;
            }
        }
        return declare_task(std::move(info));
    }

    /// Says that a task without inputs gives what this module's only other task has kept of the frame
    /// `frames` before, and both share nothing else: it runs on each frame on which that one does. They need
    /// not be in one unit where executors see to it that the other one has kept that frame.
    void let_recall(const Task& task, std::uint32_t frames) { tasks_[task.index].recalls = frames; }

    /// Says that the first `elements` of what an output gives were in the frames before.
    void let_overlap(SocketRef output, std::size_t elements) { sockets_[output.index].overlap = elements; }

    /// Says that this module's tasks share no mutable state.
    void let_tasks_be_independent() { tasks_independent_ = true; }

  private:
    friend class Graph;
    friend class ModuleTestbench;

    /// While it lives, this thread may copy modules that are in a graph.
    class Cloning {
      public:
        Cloning();
        ~Cloning();
        Cloning(const Cloning&) = delete;
        Cloning& operator=(const Cloning&) = delete;
    };

    template <class M, class F>
    static Flow call_member(Module& module, const internal::TaskCode& code, Frame frame) {
        F M::*function;
        std::memcpy(&function, code.bytes.data(), sizeof(function));
        if constexpr (std::is_void_v<std::invoke_result_t<F M::*, M&, Frame>>) {
            (static_cast<M&>(module).*function)(frame);
            return Flow::ok;
        } else {
            return (static_cast<M&>(module).*function)(frame);
        }
    }

    template <class M, class F>
    static void call_with_batch(Module& module, const internal::TaskCode& code, Batch batch) {
        F M::*function;
        std::memcpy(&function, code.bytes.data(), sizeof(function));
        (static_cast<M&>(module).*function)(batch);
    }

    template <class M, class F>
    static Flow call_with_one(Module& module, const internal::TaskCode& code, Frame frame) {
        call_with_batch<M, F>(module, code, Batch({&frame.context(), 1}, frame.addresses()));
        return Flow::ok;
    }

    template <class M, auto kBegin, auto kEnd>
    static void fly_with_batch(Module& module, const internal::TaskCode& /*none*/, Batch batch) {
        (static_cast<M&>(module).*kBegin)(batch, 0);
        (static_cast<M&>(module).*kEnd)(batch, 0);
    }

    template <class M, auto kBegin, auto kEnd>
    static Flow fly_with_one(Module& module, const internal::TaskCode& none, Frame frame) {
        fly_with_batch<M, kBegin, kEnd>(module, none, Batch({&frame.context(), 1}, frame.addresses()));
        return Flow::ok;
    }

    template <class T, class Count>
    TypedSocket<T, Direction::in, Count> with_default(const TypedSocket<T, Direction::in, Count>& input,
                                                      const OrElse<T>& otherwise) {
        set_default(input.index, otherwise.bytes);
        return input;
    }

    std::uint32_t narrow(std::size_t count) const;
    void set_default(std::uint32_t input, std::span<const std::byte> elements);
    void check_is_knob(std::uint32_t socket, const ElementType& type, bool single) const;
    std::uint32_t declare(std::string name, Direction direction, ElementType type, std::size_t count);
    void declare_marks(std::uint32_t index, SocketRef of, bool reads);
    std::uint32_t declare(std::string name, Direction direction, ElementType type, UpTo most);
    std::uint32_t declare(std::string name, Direction direction, ElementType type, Any count);
    std::uint32_t declare_knob(std::string name, ElementType type, std::size_t count, KnobInfo info);
    Task declare_task(TaskInfo info);

    std::string name_;
    std::vector<SocketInfo> sockets_;
    std::vector<TaskInfo> tasks_;
    bool tasks_independent_ = false;
    bool in_graph_ = false;
    std::uint32_t place_in_graph_ = 0;
};

}  // namespace tidemill

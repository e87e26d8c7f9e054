#pragma once

#include <atomic>
#include <concepts>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tidemill/runtime/graph/function_task.hpp"
#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill {

class KnobBook;
class LostMarks;

namespace internal {

/// Where an input's data comes from: an output of another module, or constant bytes.
struct Source {
    const Module* module = nullptr;  ///< null for constant data
    std::uint32_t socket = 0;
    std::vector<std::byte> constant;
    bool streams = false;  ///< element by element, rather than frame to frame
};

/// Where a graph's stream stands between runs.
struct StreamPosition {
    std::vector<std::uint64_t>
        next_frames{};       ///< per branch, the number of the next frame; none: it has not begun
    bool has_ended = false;  ///< and tasks have seen it
};

/// State of a graph's stream.
struct GraphStream {
    std::atomic<bool> is_running{false};
    StreamPosition place{};
    std::shared_ptr<KnobBook> knobs{};  ///< which executors make, and share
    std::shared_ptr<LostMarks> lost_marks = none_lost();

    static std::shared_ptr<LostMarks> none_lost();
};

/// True when M leaves the member as Module has it.
template <class M>
inline constexpr bool kInheritsMerge = requires {
    requires std::is_same_v<decltype(&M::merge), decltype(&Module::merge)>;
};
template <class M>
inline constexpr bool kInheritsForgetTotals = requires {
    requires std::is_same_v<decltype(&M::reset_counters), decltype(&Module::reset_counters)>;
};
template <class M>
inline constexpr bool kInheritsKeep = requires {
    requires std::is_same_v<decltype(&M::keep), decltype(&Module::keep)>;
};
template <class M>
inline constexpr bool kInheritsReset = requires {
    requires std::is_same_v<decltype(&M::reset), decltype(&Module::reset)>;
};

/// Stands where a static_assert has said what is wrong, so that the compiler says no more.
template <class T>
T refused();

/// Whether the two are no ends of a binding.
template <class From, class To>
inline constexpr bool kAreNoSockets =
    !std::is_convertible_v<From, SocketRef> || !std::is_convertible_v<To, SocketRef>;

/// Declarations of a module's type on what it holds from frame to frame.
struct StateOfType {
    bool holds_nothing = false;
    bool keeps = false;
    bool resets = false;

    template <class M>
    static constexpr StateOfType of() {
        return {requires {requires M::kHoldsNothing;
    }
    , !kInheritsKeep<M>, !kInheritsReset<M>
};
}  // namespace internal
};  // namespace tidemill

/// Where a chain takes hold of a module, or of a part of a program.
struct ChainEnds {
    std::vector<SocketRef> inputs;
    std::vector<SocketRef> outputs;
    std::string name{};
};

/// The data of a module's first task, without inputs that have a default, and those of its last.
ChainEnds ends_of(const Module& module);

inline std::vector<SocketRef> sockets_in(SocketRef socket) {
    return {socket};
}
template <class Sockets>
requires(!std::is_convertible_v<Sockets, SocketRef>) std::vector<SocketRef> sockets_in(
    const Sockets& sockets) {
    return {std::begin(sockets), std::end(sockets)};
}

template <class T>
std::vector<SocketRef> inputs_of(const T& part) {
    if constexpr (requires { part.input; }) return sockets_in(part.input);
    if constexpr (requires { part.inputs; }) return sockets_in(part.inputs);
    return {};
}
template <class T>
std::vector<SocketRef> outputs_of(const T& part) {
    if constexpr (requires { part.output; }) return sockets_in(part.output);
    if constexpr (requires { part.outputs; }) return sockets_in(part.outputs);
    return {};
}

template <class T>
concept HasEnd = requires(T part) {
    part.input;
}
|| requires(T part) {
    part.inputs;
}
|| requires(T part) {
    part.output;
}
|| requires(T part) {
    part.outputs;
};

template <class T>
concept PartOfProgram = HasEnd<T> && !std::is_base_of_v<Module, T>;

template <PartOfProgram T>
ChainEnds ends_of(const T& part) {
    return {inputs_of(part), outputs_of(part)};
}

template <class T>
inline constexpr bool kHasEnds = std::is_base_of_v<Module, T> || PartOfProgram<T>;

}  // namespace internal

/// Name of a module in its graph, whatever its constructor says: `g.add<Amp>(named("left"), 2.0f)`.
struct Named {
    std::string name;
};

/// Throws GraphError for no name.
Named named(std::string name);

/// A stream program: modules, and the bindings between their sockets. Owns its modules; they never move.
class Graph {
  public:
    explicit Graph(std::string name = "graph")
        : name_(std::move(name)), nodes_(), stream_(std::make_unique<internal::GraphStream>()) {}
    Graph(Graph&& other) noexcept;
    Graph& operator=(Graph&& other) noexcept;
    /// Modules of a graph that is being run are left as they are: exit() in a task ends static graphs.
    ~Graph();

    const std::string& name() const { return name_; }

    /// Makes a module of type M in the graph, from the arguments of its constructor. Where the graph has
    /// one of its name, a number comes behind it.
    template <class M, class... Arguments>
    M& add(Arguments&&... arguments) {
        return add<M>(Named{}, std::forward<Arguments>(arguments)...);
    }

    /// The same under another name: `g.add<Amp>(named("left"), 2.0f)`.
    template <class M, class... Arguments>
    M& add(Named name, Arguments&&... arguments) {
        constexpr bool kIsModule = std::is_base_of_v<Module, M>;
        constexpr bool kIsCopy =
            sizeof...(Arguments) == 1 && (std::is_base_of_v<M, std::remove_cvref_t<Arguments>> && ...);
        constexpr bool kCanBeMade = std::is_constructible_v<M, Arguments...>;
        static_assert(kIsModule, "add<M>() makes a module: derive M from Module");
        static_assert(!kIsCopy,
                      "a copied module's sockets name the original: give the constructor's arguments");
        static_assert(internal::kInheritsMerge<M> == internal::kInheritsForgetTotals<M>,
                      "merge() and reset_counters() go together: else clones bring back old totals");
        static_assert(!std::is_abstract_v<M>,
                      "this module is abstract: add a class that overrides its functions");
        static_assert(kCanBeMade || kIsCopy || std::is_abstract_v<M>,
                      "no constructor of M takes these Arguments");
        if constexpr (kIsModule && kCanBeMade) {
            return adopt(std::make_unique<M>(std::forward<Arguments>(arguments)...), std::move(name));
        } else {
            return internal::refused<M&>();
        }
    }

    /// Adds a task made by `tidemill::task`.
    template <class F, class... S>
    FunctionTask<F, S...>& add(FunctionTask<F, S...> task) {
        return add(Named{}, std::move(task));
    }
    template <class F, class... S>
    FunctionTask<F, S...>& add(Named name, FunctionTask<F, S...> task) {
        return adopt(std::make_unique<FunctionTask<F, S...>>(std::move(task)), std::move(name));
    }

    template <class... Others>
    void add(Others&&...) {
        static_assert(internal::kNever<Others...>,
                      "add() takes a task(...), and add<M>(arguments) makes a module of class M");
    }

    /// Feeds `input` from `output`; throws GraphError when their counts differ or the input is bound already.
    /// Where one of them has no count of its own, it gets the other's, and with it all that hang on it.
    template <class From, Direction kFrom, class Given, class To, Direction kTo, class Taken>
    void bind(const TypedSocket<From, kFrom, Given>& output, const TypedSocket<To, kTo, Taken>& input) {
        check_types<From, kFrom, To, kTo>();
        bind(SocketRef(output), SocketRef(input));
    }

    /// The same for sockets whose types are known at run time only; throws GraphError when they differ.
    void bind(SocketRef output, SocketRef input);

    /// Feeds `input` with the elements of `output` one after the other, whatever their counts: each task runs
    /// as often per frame as it takes until all that is given is taken. Throws GraphError when the input is
    /// bound already; that the streams of a graph come out even is checked when it is complete.
    template <class From, Direction kFrom, class Given, class To, Direction kTo, class Taken>
    void stream(const TypedSocket<From, kFrom, Given>& output, const TypedSocket<To, kTo, Taken>& input) {
        check_types<From, kFrom, To, kTo>();
        stream(SocketRef(output), SocketRef(input));
    }

    /// The same for sockets whose types are known at run time only; throws GraphError when they differ.
    void stream(SocketRef output, SocketRef input);

    /// Feeds `input` with the same data on every frame.
    template <class T, class Count>
    void bind(const std::vector<std::type_identity_t<T>>& constant,
              const TypedSocket<T, Direction::in, Count>& input) {
        bind_constant(std::as_bytes(std::span(constant)), input);
    }

    /// The same for an input whose type is known at run time only; throws GraphError when it differs.
    template <class T, std::same_as<SocketRef> Input>
    void bind(const std::vector<T>& constant, const Input& input) {
        check_constant(element_type<T>(), input);
        bind_constant(std::as_bytes(std::span(constant)), input);
    }

    template <class From, class To>
    requires internal::kAreNoSockets<From, To>
    void bind(const From&, const To&) {
        static_assert(internal::kNever<From>,
                      "bind() takes an output, or a vector of constant data of its type, and an input");
    }
    template <class From, class To>
    requires internal::kAreNoSockets<From, To>
    void stream(const From&, const To&) {
        static_assert(internal::kNever<From>, "stream() takes an output and an input");
    }

    /// Binds the outputs of each module's last task to the inputs of the next module's first task, in order.
    /// A part of a program stands in it like a module: a struct with sockets `input` and `output`, or ranges
    /// of them `inputs` and `outputs`. Throws GraphError where there are not as many on both sides.
    template <class... Links>
    void chain(const Links&... links) {
        constexpr bool kCanBeChained = (internal::kHasEnds<Links> && ...);
        static_assert(kCanBeChained,
                      "chain() takes modules, and parts that have sockets `input` and `output`");
        if constexpr (kCanBeChained) {
            const internal::ChainEnds all[] = {internal::ends_of(links)..., {}};
            for (std::size_t i = 0; i + 1 < sizeof...(links); ++i) link(all[i], all[i + 1]);
        }
    }

    /// While it lives, the names of modules added to the graph begin with its own, "group/module": so the
    /// parts of a program that is built by several functions have different names.
    class Group {
      public:
        [[nodiscard]] Group(Graph& graph, const std::string& name)
            : graph_(graph), outer_(graph.prefix_.size()) {
            graph_.prefix_ += name + "/";
        }
        ~Group() { graph_.prefix_.resize(outer_); }
        Group(const Group&) = delete;
        Group& operator=(const Group&) = delete;

      private:
        Graph& graph_;
        std::size_t outer_;
    };

    /// Makes modules, knobs and frame numbers what they were when the graph was made. Gives the names of
    /// those modules that may hold something and have no reset(): they stay as they are. Throws GraphError
    /// while an executor runs the graph.
    std::vector<std::string> reset();

    /// The modules that may hold something and have no keep(): a checkpoint is without it.
    std::vector<std::string> not_kept() const { return names_where(&internal::StateOfType::keeps); }

    /// How many modules and bindings there are. A graph only grows, so a reader of this size has seen all.
    std::size_t size() const;

    /// Held by an executor while it runs the graph. Throws GraphError when another one does, or when the
    /// graph has not the size that it had when the executor was made.
    class Running {
      public:
        [[nodiscard]] Running(const Graph& graph, std::size_t size);
        ~Running() { stream_->is_running = false; }
        Running(const Running&) = delete;
        Running& operator=(const Running&) = delete;

        /// Where the graph's stream stands, whichever executor ran it.
        internal::StreamPosition& place() { return stream_->place; }

      private:
        internal::GraphStream* stream_;
    };

    /// For executors: its knobs; null before the first of them.
    std::shared_ptr<KnobBook>& knob_book() { return stream_->knobs; }

    /// The same: the marks that had no room in their lists.
    const std::shared_ptr<LostMarks>& lost_marks() const { return stream_->lost_marks; }

    std::size_t module_count() const { return nodes_.size(); }
    Module& module(std::size_t index) const { return *nodes_[index].module; }
    /// The inputs that bind() has given outputs of a module.
    std::span<const SocketRef> readers_of(std::size_t module) const { return nodes_[module].readers; }

    /// Source of a socket: where nothing is bound to it, its default or, of one that reads a label, the
    /// nearest that gives it. Null when nothing does, or several are equally near.
    const internal::Source* source_of(std::size_t module, std::uint32_t socket) const;

    /// The index of a module of this graph; throws GraphError for another graph's.
    std::size_t index_of(const Module& module) const;

    /// Throws GraphError when a module's type cannot be copied.
    void require_clonable(std::size_t module) const;

    /// A deep copy of a module; throws GraphError when its type cannot be copied.
    std::unique_ptr<Module> clone(std::size_t module) const;

    /// A graph of its own with a deep copy of every module, totals forgotten; throws GraphError when a module
    /// cannot be copied. Socket members of the copies still name the original: bind before duplicating.
    Graph duplicate() const;

  private:
    friend class ModuleTestbench;

    using Cloner = std::function<std::unique_ptr<Module>(const Module&)>;

    struct Node {
        std::unique_ptr<Module> module;
        Cloner cloner;
        internal::StateOfType state;
        std::vector<std::unique_ptr<internal::Source>> sources;  // one per socket
        // The same, of sockets that nobody binds: an input's default, and what a label's readers have.
        std::vector<std::unique_ptr<internal::Source>> implied;
        std::vector<SocketRef> readers;  // inputs that bind() has given its outputs
    };

    template <class M>
    static Cloner cloner_of() {
        if constexpr (std::is_copy_constructible_v<M>) {
            return
                [](const Module& original) { return std::make_unique<M>(static_cast<const M&>(original)); };
        } else {
            return nullptr;
        }
    }

    template <class From, Direction kFrom, class To, Direction kTo>
    static void check_types() {
        static_assert(std::is_same_v<From, To>, "types differ; insert a task that converts");
        static_assert(kFrom != Direction::in, "data comes from an output or a forward");
        static_assert(kTo != Direction::out, "data goes to an input or a forward");
    }

    template <class M>
    M& adopt(std::unique_ptr<M> module, Named name) {
        M& added = *module;
        if (!name.name.empty()) added.Module::name_ = std::move(name.name);
        adopt(std::move(module), cloner_of<M>(), internal::StateOfType::of<M>());
        return added;
    }

    void adopt(std::unique_ptr<Module> module, Cloner cloner, internal::StateOfType state);
    void enter(Module& module);
    std::vector<std::string> names_where(bool internal::StateOfType::*does) const;
    std::unique_ptr<internal::Source>& free_input_for(SocketRef output, SocketRef input);
    static void check_declared(SocketRef socket);
    static void check_constant(const ElementType& type, SocketRef input);
    void bind_constant(std::span<const std::byte> elements, SocketRef input);
    void link(const internal::ChainEnds& from, const internal::ChainEnds& to);
    std::unique_ptr<internal::Source>& free_input(SocketRef input);
    void check_as(const Module& module) const;
    void set_count(SocketRef socket, std::size_t count);

    std::string name_;
    std::string prefix_;                          // of the groups that are open
    std::unordered_map<std::string, int> names_;  // of modules, and the number to try for the next such
    // Destroyed by hand: not while other threads run the graph.
    union {
        std::vector<Node> nodes_;
    };
    union {
        std::unique_ptr<internal::GraphStream> stream_;
    };
};

}  // namespace tidemill

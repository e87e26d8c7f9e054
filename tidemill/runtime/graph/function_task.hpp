#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tidemill/runtime/graph/module.hpp"

namespace tidemill {

namespace internal {

/// A socket of a task that is a plain callable, with what was said of its count.
template <class T, Direction kDirection, class Count = std::size_t>
struct SocketDeclaration {
    using Socket = TypedSocket<T, kDirection, Count>;
    using Span = decltype(std::declval<const Frame&>()[std::declval<const Socket&>()]);
    static constexpr bool kReads = kDirection != Direction::out;
    static constexpr bool kWrites = kDirection != Direction::in;

    std::string name;
    Count count;
    std::optional<OrElse<T>> otherwise{};
};

/// A knob of such a task.
template <class T>
struct KnobDeclaration {
    using Socket = Knob<T>;
    using Span = decltype(std::declval<const Frame&>()[std::declval<const Socket&>()]);
    static constexpr bool kReads = false;
    static constexpr bool kWrites = false;

    std::string name;
    T initial;
    Range range;
};

/// A label of such a task.
template <class T>
struct LabelDeclaration {
    using Socket = Label<T>;
    using Span = T&;
    static constexpr bool kReads = false;
    static constexpr bool kWrites = false;

    std::string name;
    std::string socket;
};

/// Marks of such a task.
template <class T>
struct MarksDeclaration {
    using Socket = Marks<T>;
    using Span = decltype(std::declval<const Frame&>()[std::declval<const Socket&>()]);
    static constexpr bool kReads = false;
    static constexpr bool kWrites = false;

    std::string name;
    std::string of;
    UpTo most;
    std::string socket;
};

}  // namespace internal

/// Sockets of a task that is a plain callable.
template <class T>
internal::SocketDeclaration<T, Direction::in> in(std::string name, std::size_t count = 1) {
    return {std::move(name), count};
}
template <class T>
internal::SocketDeclaration<T, Direction::out> out(std::string name, std::size_t count = 1) {
    return {std::move(name), count};
}
template <class T>
internal::SocketDeclaration<T, Direction::forward> forward(std::string name, std::size_t count = 1) {
    return {std::move(name), count};
}

/// The same of which a frame holds up to so many elements: the function gets a span, or `Elements`.
template <class T>
internal::SocketDeclaration<T, Direction::in, UpTo> in(std::string name, UpTo most) {
    return {std::move(name), most};
}
template <class T>
internal::SocketDeclaration<T, Direction::out, UpTo> out(std::string name, UpTo most) {
    return {std::move(name), most};
}
template <class T>
internal::SocketDeclaration<T, Direction::forward, UpTo> forward(std::string name, UpTo most) {
    return {std::move(name), most};
}

/// The same of which a binding says how many elements it has: any, or as(another socket of the task).
template <class T>
internal::SocketDeclaration<T, Direction::in, Any> in(std::string name, Any count) {
    return {std::move(name), std::move(count)};
}
template <class T>
internal::SocketDeclaration<T, Direction::out, Any> out(std::string name, Any count) {
    return {std::move(name), std::move(count)};
}
template <class T>
internal::SocketDeclaration<T, Direction::forward, Any> forward(std::string name, Any count) {
    return {std::move(name), std::move(count)};
}

/// An input that need not be bound.
template <class T>
internal::SocketDeclaration<T, Direction::in> in(std::string name, std::size_t count,
                                                 OrElse<std::type_identity_t<T>> otherwise) {
    return {std::move(name), count, std::move(otherwise)};
}
template <class T>
internal::SocketDeclaration<T, Direction::in> in(std::string name,
                                                 OrElse<std::type_identity_t<T>> otherwise) {
    return {std::move(name), 1, std::move(otherwise)};
}
template <class T>
internal::SocketDeclaration<T, Direction::in, UpTo> in(std::string name, UpTo most,
                                                       OrElse<std::type_identity_t<T>> otherwise) {
    return {std::move(name), most, std::move(otherwise)};
}
template <class T>
internal::SocketDeclaration<T, Direction::in, Any> in(std::string name, Any count,
                                                      OrElse<std::type_identity_t<T>> otherwise) {
    return {std::move(name), std::move(count), std::move(otherwise)};
}

/// A knob of such a task: the function gets the number, or a span of the numbers.
template <class T>
internal::KnobDeclaration<T> knob(std::string name, T initial, Range range = {}) {
    return {std::move(name), std::move(initial), range};
}

/// A label that such a task gives or, of a const type, reads: the function gets a reference.
template <class T>
internal::LabelDeclaration<T> label(std::string name, std::string socket = {}) {
    return {std::move(name), std::move(socket)};
}

/// Marks that such a task gives or, of a const type, reads on the elements of its socket `of`, which is
/// declared before them: the function gets a MarkList, or a span of Mark.
template <class T>
internal::MarksDeclaration<T> marks(std::string name, std::string of, UpTo most = upto(16),
                                    std::string socket = {}) {
    return {std::move(name), std::move(of), most, std::move(socket)};
}

namespace internal {

/// Facts in a callable's type about a task with these sockets.
template <class Function, class... Sockets>
struct CallableForm {
    static constexpr bool kConst = std::is_invocable_v<const Function&, typename Sockets::Span...>;
    static constexpr bool kFits = kConst || std::is_invocable_v<Function&, typename Sockets::Span...>;
    static constexpr bool kHoldsNothing =
        std::is_empty_v<Function> || std::is_function_v<std::remove_pointer_t<Function>>;
    static constexpr bool kReads = (Sockets::kReads || ...);
    static constexpr bool kWrites = (Sockets::kWrites || ...);

    /// Pure without a word: what cannot remember makes the same outputs of the same inputs in any order. What
    /// reads nothing or writes nothing is there for another effect.
    static constexpr bool kPure = kConst && kHoldsNothing && kReads && kWrites;
};

}  // namespace internal

/// A module with one task: a callable that takes one span per socket, in the order of declaration.
template <class Function, class... Sockets>
class FunctionTask final : public Module {
    using Form = internal::CallableForm<Function, Sockets...>;

  public:
    /// Whether the callable can hold nothing from frame to frame.
    static constexpr bool kHoldsNothing = Form::kConst && Form::kHoldsNothing;

    template <internal::TaskWord... Words>
    FunctionTask(std::string name, std::tuple<Words...>, std::tuple<Sockets...> sockets, Function function)
        : Module(name),
          sockets_(std::apply([&](auto&... each) { return std::tuple{declared(each)...}; }, sockets)),
          task_(declare_task(std::move(name), &FunctionTask::run, options<Words...>(), basis<Words...>())),
          function_(std::move(function)) {}

  private:
    static_assert(Form::kFits,
                  "the function takes a span per socket, in their order: of const elements for an input");

    template <internal::TaskWord... Words>
    static constexpr TaskOptions options() {
        static_assert(Form::kConst || !internal::kSays<internal::Said<Replication::pure>, Words...>,
                      "a pure task can be called through const: without mutable, without a non-const ()");
        TaskOptions options = internal::options_of<Words...>();
        if (basis<Words...>() == Basis::form) options.replication = Replication::pure;
        return options;
    }

    // A task that may skip or repeat, and has no other word, ends a segment: its captures do not change frame
    // numbers.
    template <internal::TaskWord... Words>
    static constexpr Basis basis() {
        if (sizeof...(Words) > 0 || !Form::kConst) return Basis::word;
        return Form::kPure ? Basis::form : Basis::silence;
    }

    template <class T, Direction kDirection, class Count>
    auto declared(internal::SocketDeclaration<T, kDirection, Count>& socket) {
        if constexpr (kDirection == Direction::in) {
            if (socket.otherwise) return in<T>(socket.name, socket.count, *socket.otherwise);
        }
        return declare_typed<T, kDirection>(socket.name, socket.count);
    }

    template <class T>
    Knob<T> declared(internal::KnobDeclaration<T>& socket) {
        return knob<T>(socket.name, socket.initial, socket.range);
    }

    template <class T>
    Label<T> declared(internal::LabelDeclaration<T>& socket) {
        return label<T>(socket.name, socket.socket);
    }

    template <class T>
    Marks<T> declared(internal::MarksDeclaration<T>& socket) {
        return marks<T>(socket.name, (*this)[socket.of], socket.most, socket.socket);
    }

    // Through const where that can be, so that no call that counts as pure finds another operator().
    Flow run(Frame frame) {
        std::conditional_t<Form::kConst, const Function, Function>& function = function_;
        return std::apply(
            [&](const auto&... socket) {
                using R = decltype(function(frame[socket]...));
                static_assert(std::is_same_v<R, Flow> || std::is_void_v<R>, "a task returns Flow or nothing");
                if constexpr (std::is_same_v<R, Flow>) {
                    return function(frame[socket]...);
                } else {
                    function(frame[socket]...);
                    return Flow::ok;
                }
            },
            sockets_);
    }

    std::tuple<typename Sockets::Socket...> sockets_;
    Task task_;
    Function function_;
};

namespace internal {

template <class T>
concept Declaration = requires {
    typename T::Span;
};

/// Whether these are words, then sockets, then one function.
template <class... Parts>
constexpr bool are_in_order() {
    const bool words[] = {TaskWord<Parts>..., false};
    const bool sockets[] = {Declaration<Parts>..., false};
    std::size_t at = 0;
    while (words[at]) ++at;
    while (sockets[at]) ++at;
    return at + 1 == sizeof...(Parts);
}

template <class... Words, class... Sockets, class Function>
auto make_function_task(std::string name, std::tuple<Words...> words, std::tuple<Sockets...> sockets,
                        Function function) {
    return FunctionTask<Function, Sockets...>(std::move(name), words, std::move(sockets),
                                              std::move(function));
}

template <std::size_t kFirst, class... All, std::size_t... kIndex>
auto part_of(std::tuple<All...>& all, std::index_sequence<kIndex...>) {
    return std::tuple<std::tuple_element_t<kFirst + kIndex, std::tuple<All...>>...>(
        std::move(std::get<kFirst + kIndex>(all))...);
}

}  // namespace internal

/// A task from a callable: `task("gain", in<float>("x", n), out<float>("y", n), [](auto x, auto y) { ... })`.
///
/// Words go before the sockets: `task("mix", pure, in<float>("x"), out<float>("y"), [taps](auto x, auto y) {
/// ...
/// })`. Without one, the task is pure if the callable can be called through const, holds nothing (no captures
/// or members: a captured reference may be to anything) and has both inputs and outputs; else it is
/// sequential. What the type does not show, a variable that is static or global, or output to a file, needs
/// `sequential`. The task keeps a copy of the callable: to read its members later, pass std::ref of it.
template <class... WordsSocketsFunction>
auto task(std::string name, WordsSocketsFunction... all) {
    constexpr bool kInOrder = internal::are_in_order<WordsSocketsFunction...>();
    static_assert(kInOrder, "a task is a name, words, sockets and a function, in this order");
    if constexpr (kInOrder) {
        constexpr std::size_t kWords = (0 + ... + std::size_t{internal::TaskWord<WordsSocketsFunction>});
        std::tuple<WordsSocketsFunction...> parts(std::move(all)...);
        return internal::make_function_task(
            std::move(name), internal::part_of<0>(parts, std::make_index_sequence<kWords>()),
            internal::part_of<kWords>(parts, std::make_index_sequence<sizeof...(all) - kWords - 1>()),
            std::move(std::get<sizeof...(all) - 1>(parts)));
    } else {
        return internal::make_function_task(std::move(name), std::tuple(), std::tuple(), [] {});
    }
}

}  // namespace tidemill

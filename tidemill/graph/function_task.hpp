#pragma once

#include <string>
#include <tuple>
#include <utility>

#include "tidemill/graph/module.hpp"

namespace tidemill {

/// A socket of a task that is a plain callable.
template <class T, Direction kDirection>
struct SocketDeclaration {
    std::string name;
    std::size_t count;
};

template <class T>
SocketDeclaration<T, Direction::in> in(std::string name, std::size_t count = 1) {
    return {std::move(name), count};
}
template <class T>
SocketDeclaration<T, Direction::out> out(std::string name, std::size_t count = 1) {
    return {std::move(name), count};
}
template <class T>
SocketDeclaration<T, Direction::forward> forward(std::string name, std::size_t count = 1) {
    return {std::move(name), count};
}

/// A module with one task: a callable that takes one span per socket, in the order of declaration.
template <class Function, class... Sockets>
class FunctionTask final : public Module {
  public:
    FunctionTask(std::string name, TaskOptions options, std::tuple<Sockets...> sockets, Function function)
        : Module(name),
          sockets_(std::apply([&](auto&... each) { return std::tuple{declare_typed(each)...}; }, sockets)),
          task_(task(std::move(name), &FunctionTask::run, options)),
          function_(std::move(function)) {}

    FunctionTask(const FunctionTask&) = default;

  private:
    template <class T>
    In<T> declare_typed(SocketDeclaration<T, Direction::in>& socket) {
        return in<T>(socket.name, socket.count);
    }
    template <class T>
    Out<T> declare_typed(SocketDeclaration<T, Direction::out>& socket) {
        return out<T>(socket.name, socket.count);
    }
    template <class T>
    Forward<T> declare_typed(SocketDeclaration<T, Direction::forward>& socket) {
        return forward<T>(socket.name, socket.count);
    }

    Flow run(Frame frame) {
        return std::apply(
            [&](const auto&... socket) {
                if constexpr (std::is_void_v<decltype(function_(frame[socket]...))>) {
                    function_(frame[socket]...);
                    return Flow::ok;
                } else {
                    return function_(frame[socket]...);
                }
            },
            sockets_);
    }

    template <class T, Direction kDirection>
    static TypedSocket<T, kDirection> typed(const SocketDeclaration<T, kDirection>&);

    std::tuple<decltype(typed(std::declval<Sockets>()))...> sockets_;
    Task task_;
    Function function_;
};

namespace internal {

template <class Tuple, std::size_t... kIndex>
auto make_function_task(std::string name, TaskOptions options, Tuple&& all, std::index_sequence<kIndex...>) {
    using Function = std::tuple_element_t<sizeof...(kIndex), std::remove_cvref_t<Tuple>>;
    return FunctionTask<Function, std::tuple_element_t<kIndex, std::remove_cvref_t<Tuple>>...>(
        std::move(name), options, std::tuple{std::get<kIndex>(all)...},
        std::move(std::get<sizeof...(kIndex)>(all)));
}

}  // namespace internal

/// A task from a callable with promises of its own: `task("name", {...}, in<float>("x", n), ..., function)`.
template <class... SocketsAndFunction>
auto task(std::string name, TaskOptions options, SocketsAndFunction... all) {
    return internal::make_function_task(std::move(name), options, std::tuple{std::move(all)...},
                                        std::make_index_sequence<sizeof...(all) - 1>{});
}

/// A stateless task: `task("gain", in<float>("x", n), out<float>("y", n), [](auto x, auto y) { ... })`.
template <class T, Direction kDirection, class... SocketsAndFunction>
auto task(std::string name, SocketDeclaration<T, kDirection> first, SocketsAndFunction... rest) {
    return task(std::move(name), TaskOptions{.replication = Replication::shared}, std::move(first),
                std::move(rest)...);
}

}  // namespace tidemill

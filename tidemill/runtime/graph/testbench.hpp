#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill {

/// Drives one module alone, for its tests: feeds its sockets, steps its tasks, reads what came out.
///
/// What a test gets wrong (a socket that was never fed, values that do not fit) throws GraphError.
class ModuleTestbench {
  public:
    /// Takes a graph that holds the module, and nothing else.
    explicit ModuleTestbench(std::unique_ptr<Graph> graph);
    ModuleTestbench(ModuleTestbench&&) noexcept;
    ~ModuleTestbench();

    /// Sets an input or forward from the next step on, the same on every step until it is fed anew. Fewer
    /// values than the socket's count leave the rest zero; one that varies holds as many as there are, one
    /// whose count follows has from now on as many.
    template <class T, Direction kDirection, class Count>
    ModuleTestbench& feed(const TypedSocket<T, kDirection, Count>& socket,
                          std::initializer_list<std::type_identity_t<T>> values) {
        return feed(socket, std::span<const T>(values.begin(), values.size()));
    }
    template <class T, Direction kDirection, class Count>
    ModuleTestbench& feed(const TypedSocket<T, kDirection, Count>& socket,
                          std::span<const std::type_identity_t<T>> values) {
        static_assert(kDirection != Direction::out, "an output is read, not fed");
        return feed_bytes(socket, std::as_bytes(values));
    }

    /// How many elements a socket has whose count follows from bindings; what is fed says it, too.
    ModuleTestbench& set_count(SocketRef socket, std::size_t count);

    /// The same for a socket by its name: `feed<float>("x", {1, 2})`.
    template <class T>
    ModuleTestbench& feed(std::string_view socket, std::initializer_list<T> values) {
        return feed(socket, std::span<const T>(values.begin(), values.size()));
    }
    template <class T>
    ModuleTestbench& feed(std::string_view socket, std::span<const T> values) {
        return feed_bytes(socket_of(socket, element_type<T>()), std::as_bytes(values));
    }

    /// Sets a label that is read, likewise.
    template <class T>
    ModuleTestbench& feed(const Label<const T>& label, const std::type_identity_t<T>& value) {
        return feed_bytes(label, std::as_bytes(std::span(&value, 1)));
    }

    /// The marks that are read on its elements, likewise.
    template <class T>
    ModuleTestbench& feed(const Marks<const T>& marks,
                          std::initializer_list<Mark<std::type_identity_t<T>>> values) {
        return feed_bytes(marks, std::as_bytes(std::span(values.begin(), values.size())));
    }

    /// Sets knobs from the next step on: `set(amp.gain, 2.0f)`; before, they hold their first values.
    template <class T, class... Rest>
    ModuleTestbench& set(const Knob<T>& knob, const std::type_identity_t<T>& value, const Rest&... rest) {
        return set(KnobSettings(knob, value, rest...));
    }
    ModuleTestbench& set(const KnobSettings& settings);

    /// Runs a task once and returns what it said of the frame; throws GraphError when it returns a flow that
    /// it did not promise, or where a count is open. Without a task, the module's only one. Outputs begin
    /// with bytes of all ones.
    Flow step();
    Flow step(std::string_view task);
    Flow step(const Task& task);

    /// The same as at the stream's end: without elements in the inputs, which need not be fed.
    Flow step_at_end();
    Flow step_at_end(const Task& task);

    /// Content of an output or forward after the last step; valid until the next one.
    template <class T, Direction kDirection, class Count>
    std::span<const T> read(const TypedSocket<T, kDirection, Count>& socket) const {
        static_assert(kDirection != Direction::in, "an input is fed, not read");
        return typed<T>(socket);
    }
    template <class T>
    const T& read(const Label<T>& label) const {
        static_assert(!std::is_const_v<T>, "a label that is read is fed");
        return typed<T>(label).front();
    }
    template <class T>
    std::span<const Mark<T>> read(const Marks<T>& marks) const {
        static_assert(!std::is_const_v<T>, "marks that are read are fed");
        return typed<Mark<T>>(marks);
    }
    template <class T>
    std::span<const T> read(std::string_view socket) const {
        return typed<T>(socket_of(socket, element_type<T>()));
    }

    /// Values that tasks have set knobs to, also those of other modules, one call after the other.
    struct Told {
        KnobSetting setting;
        std::uint64_t frame;
        std::uint64_t after;
    };
    const std::vector<Told>& told() const;

    /// The number of every task's next frame; each counts on from there, except after Flow::again, when it
    /// is called with the same frame once more. Without this call, frames count from 0.
    ModuleTestbench& at_frame(std::uint64_t number);

    /// From now on tasks see that the run is to end.
    ModuleTestbench& ask_to_stop();

    Module& module() const { return graph_->module(0); }

  private:
    struct State;

    template <class T>
    std::span<const T> typed(SocketRef socket) const {
        const auto bytes = internal::elements_of(module().sockets()[socket.index], data_of(socket));
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }

    const std::byte* data_of(SocketRef socket) const;
    SocketRef socket_of(std::string_view name, const ElementType& type) const;
    void check_own(const Module* module) const;
    ModuleTestbench& feed_bytes(SocketRef socket, std::span<const std::byte> bytes);
    void fill_sockets(std::uint32_t task, bool ends);
    Flow run(const Task& task, bool ends);
    Task only_task() const;

    std::unique_ptr<Graph> graph_;
    std::unique_ptr<State> state_;
};

/// A testbench that makes its module: `Testbench<QpskDemapper> b{64}; b.feed(b->symbols, {...}).step();`.
/// Takes a task made by `tidemill::task` as well: `Testbench b{task("gain", ...)}`.
template <class M>
class Testbench : public ModuleTestbench {
  public:
    template <class... Arguments>
    explicit Testbench(Arguments&&... arguments)
        : ModuleTestbench(graph_with(std::forward<Arguments>(arguments)...)) {}

    M& operator*() const { return static_cast<M&>(module()); }
    M* operator->() const { return &**this; }

  private:
    template <class... Arguments>
    static std::unique_ptr<Graph> graph_with(Arguments&&... arguments) {
        auto graph = std::make_unique<Graph>("bench");
        if constexpr ((sizeof...(Arguments) == 1) &&
                      (std::is_same_v<M, std::remove_cvref_t<Arguments>> && ...)) {
            graph->add(std::forward<Arguments>(arguments)...);
        } else {
            graph->add<M>(std::forward<Arguments>(arguments)...);
        }
        return graph;
    }
};

template <class Function, class... Sockets>
explicit Testbench(FunctionTask<Function, Sockets...>) -> Testbench<FunctionTask<Function, Sockets...>>;

}  // namespace tidemill

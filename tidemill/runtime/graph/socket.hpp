#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/runtime/graph/element_type.hpp"

namespace tidemill {

class Module;
struct KnobInfo;

/// Direction of data through a socket; a forward is an input that is changed in place and passed on.
enum class Direction : std::uint8_t { in, out, forward };

/// How many elements a socket holds at most, where frames differ in that: `out<float>("y", upto(64))`.
struct UpTo {
    std::size_t count;
};

constexpr UpTo upto(std::size_t count) {
    return {count};
}

/// A count that follows: from what the socket is bound to, `in<float>("x", any)`, or from another socket of
/// its module besides, `out<float>("y", as("x"))`.
struct Any {
    std::string as{};
};

namespace internal {

struct AnyCount {
    operator Any() const { return {}; }
};

}  // namespace internal

inline constexpr internal::AnyCount any{};

inline Any as(std::string socket) {
    return {std::move(socket)};
}

/// Content of an input to which nothing is bound: `in<float>("gain", 4, or_else(1.0f))`.
template <class T>
struct OrElse {
    explicit OrElse(std::span<const T> values)
        : bytes(std::as_bytes(values).begin(), std::as_bytes(values).end()) {}
    template <class Other>
    OrElse(const OrElse<Other>&) {
        static_assert(internal::kNever<Other>,
                      "or_else() takes values of the input's own type: or_else(1.0f)");
    }

    std::vector<std::byte> bytes{};
};

/// One value, for all elements.
template <class T>
OrElse<T> or_else(const T& value) {
    return OrElse<T>(std::span(&value, 1));
}
/// A value for each.
template <class T>
OrElse<T> or_else(const std::vector<T>& values) {
    return OrElse<T>(values);
}

namespace internal {

/// Where the elements of a socket that holds up to so many begin, behind the word that says how many there
/// are: each on a cache line of its own.
inline constexpr std::size_t kElementsAt = 64;

}  // namespace internal

/// Facts of a socket: immutable when its graph is complete, shared by all frames and threads.
struct SocketInfo {
    std::string name;
    Direction direction;
    ElementType type;
    std::size_t count;                       ///< elements per frame; of one that varies, at most; 0: open
    std::uint32_t task;                      ///< index of its task in the module
    bool late = false;                       ///< an input that is read a turn of a loop after it was written
    bool varies = false;                     ///< a frame may hold fewer than `count` elements
    bool follows = false;                    ///< its count follows from bindings, and is open before
    std::string as{};                        ///< the socket of its module that it is as long as; or empty
    std::shared_ptr<const KnobInfo> knob{};  ///< of an input whose value is set from outside; else null
    std::string label{};                     ///< that it gives or reads; empty: none
    std::optional<std::uint32_t> marked{};   ///< of a list of marks: the socket on whose elements they are
    std::size_t overlap = 0;           ///< of an output: so many of its first elements were in frames before
    std::vector<std::byte> or_else{};  ///< elements of an input that nothing is bound to: one for all
                                       ///< of them, or each; empty: it must be bound

    /// Bytes that a frame keeps for it.
    std::size_t bytes() const {
        if (!varies) return count * type.size;
        const std::size_t lines = (count * type.size + internal::kElementsAt - 1) / internal::kElementsAt;
        return internal::kElementsAt * (1 + lines);
    }

    /// "float32 x 64", "float32 x up to 64" or "float32 x any", for messages.
    std::string shape() const;
};

namespace internal {

/// Bytes in a frame where a socket holds these elements; where it does not vary, zeros fill the rest.
std::vector<std::byte> block_of(const SocketInfo& socket, std::span<const std::byte> elements);

/// The same of an input that nothing is bound to: its default.
std::vector<std::byte> default_of(const SocketInfo& socket);

/// The elements that a socket holds in its block.
std::span<const std::byte> elements_of(const SocketInfo& socket, const std::byte* block);

}  // namespace internal

/// A socket of a module whose element type is known at run time only.
struct SocketRef {
    const Module* module;
    std::uint32_t index;
};

/// A socket of a module whose element type the compiler knows, and what was said of its count: a number, UpTo
/// or Any. One that no module has declared has no elements.
template <class T, Direction kDirection, class Count = std::size_t>
struct TypedSocket {
    const Module* module = nullptr;
    std::uint32_t index = 0;
    std::uint32_t count = 0;  ///< of UpTo, at most; of Any, see Module::count_of

    operator SocketRef() const { return {module, index}; }
};

/// A value that goes along with the data: whatever task behind its owner reads a label of that name and type
/// gets it, from the nearest owner before it, without a binding. `Label<T>` gives it, `Label<const T>` reads
/// it: `f[label]` is a reference.
template <class T>
struct Label {
    const Module* module = nullptr;
    std::uint32_t index = 0;

    operator SocketRef() const { return {module, index}; }
};

/// Values that go along with single elements of the data, as a label does with all of a frame. `Marks<T>`
/// gives them, `Marks<const T>` reads those on the elements that the task is given, at the places that these
/// have in its own stream: `f[marks]` is a MarkList, or a span of Mark.
template <class T>
struct Marks {
    const Module* module = nullptr;
    std::uint32_t index = 0;
    std::uint32_t count = 0;     ///< the most in a list
    std::uint64_t elements = 0;  ///< of the socket whose elements are marked

    operator SocketRef() const { return {module, index}; }
};

template <class T>
using In = TypedSocket<T, Direction::in>;
template <class T>
using Out = TypedSocket<T, Direction::out>;
template <class T>
using Forward = TypedSocket<T, Direction::forward>;
template <class T>
using InUpTo = TypedSocket<T, Direction::in, UpTo>;
template <class T>
using OutUpTo = TypedSocket<T, Direction::out, UpTo>;
template <class T>
using ForwardUpTo = TypedSocket<T, Direction::forward, UpTo>;
template <class T>
using InAny = TypedSocket<T, Direction::in, Any>;
template <class T>
using OutAny = TypedSocket<T, Direction::out, Any>;
template <class T>
using ForwardAny = TypedSocket<T, Direction::forward, Any>;

}  // namespace tidemill

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tidemill/graph/element_type.hpp"

namespace tidemill {

class Module;
struct KnobInfo;

/// Which way data flows through a socket; a forward is an input that is changed in place and passed on.
enum class Direction : std::uint8_t { in, out, forward };

/// What there is to know of a socket: immutable, shared by all frames and threads.
struct SocketInfo {
    std::string name;
    Direction direction;
    ElementType type;
    std::size_t count;                       ///< elements per frame
    std::uint32_t task;                      ///< index of its task in the module
    bool late = false;                       ///< an input that is read a turn of a loop after it was written
    std::shared_ptr<const KnobInfo> knob{};  ///< of an input whose value is set from outside; else null
    std::string label{};                     ///< that it gives or reads; empty: none

    std::size_t bytes() const { return count * type.size; }
};

/// A socket of a module whose element type is known at run time only.
struct SocketRef {
    const Module* module;
    std::uint32_t index;
};

/// A socket of a module whose element type the compiler knows. One that no module has declared has no
/// elements.
template <class T, Direction kDirection>
struct TypedSocket {
    const Module* module = nullptr;
    std::uint32_t index = 0;
    std::uint32_t count = 0;

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

template <class T>
using In = TypedSocket<T, Direction::in>;
template <class T>
using Out = TypedSocket<T, Direction::out>;
template <class T>
using Forward = TypedSocket<T, Direction::forward>;

}  // namespace tidemill

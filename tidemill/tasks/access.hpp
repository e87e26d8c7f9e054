#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>

namespace tidemill {

/// What a task does with a piece of memory. Pieces may overlap: tasks wait for each other where they share
/// bytes that one of them changes. What is named each time as the same piece costs least. A piece of no bytes
/// is none.
struct Access {
    enum class Mode : std::uint8_t { in, out, inout };

    const void* address;
    std::size_t bytes;
    Mode mode;

    bool changes() const { return mode != Mode::in; }
};

namespace internal {

template <class T>
Access access_of(const T& piece, Access::Mode mode) {
    if constexpr (std::ranges::contiguous_range<T> && std::ranges::sized_range<T>) {
        return {std::ranges::data(piece), std::ranges::size(piece) * sizeof(std::ranges::range_value_t<T>),
                mode};
    } else {
        return {&piece, sizeof(piece), mode};
    }
}

}  // namespace internal

/// in: the task reads the elements of a span or vector, or an object.
template <class T>
Access reads(const T& piece) {
    return internal::access_of(piece, Access::Mode::in);
}
/// out: it writes them, and does not look at what was there.
template <class T>
Access writes(const T& piece) {
    return internal::access_of(piece, Access::Mode::out);
}
/// inout: it changes them.
template <class T>
Access updates(const T& piece) {
    return internal::access_of(piece, Access::Mode::inout);
}

}  // namespace tidemill

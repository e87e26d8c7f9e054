#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "tidemill/runtime/graph/socket.hpp"

namespace tidemill {

namespace internal {

inline std::uint32_t elements_in(const std::byte* block) {
    std::uint32_t count = 0;
    std::memcpy(&count, block, sizeof(count));
    return count;
}

[[noreturn]] void throw_no_room(std::size_t count, std::size_t room);

}  // namespace internal

/// Elements of a frame in a socket that varies, for the task that sets their number: none, until it does.
template <class T>
class Elements {
  public:
    Elements(std::byte* block, std::size_t capacity) : block_(block), capacity_(capacity) {}

    std::size_t size() const { return internal::elements_in(block_); }
    std::size_t capacity() const { return capacity_; }
    T* data() const { return reinterpret_cast<T*>(block_ + internal::kElementsAt); }
    T* begin() const { return data(); }
    T* end() const { return data() + size(); }
    T& operator[](std::size_t index) const { return data()[index]; }
    operator std::span<T>() const { return {data(), size()}; }

    /// From now on there are `count`; those that are new hold anything. Throws GraphError where there is no
    /// room for them.
    std::span<T> resize(std::size_t count) const {
        if (count > capacity_) internal::throw_no_room(count, capacity_);
        const auto word = static_cast<std::uint32_t>(count);
        std::memcpy(block_, &word, sizeof(word));
        return *this;
    }

    /// One more; throws likewise.
    void push_back(const T& element) const { resize(size() + 1).back() = element; }

  private:
    std::byte* block_;
    std::size_t capacity_;
};

/// Where something lies in a stream of elements: `element` + `over` / `under`, with `over` < `under`.
struct ElementPosition {
    std::uint64_t element = 0;
    std::uint32_t over = 0;
    std::uint32_t under = 1;

    bool operator==(const ElementPosition&) const = default;
};

/// The same place counted in another stream, which has `to` elements where this one has `from`, both at least
/// 1 and at most 2^32 - 1: exact. Throws GraphError where no fraction of 32 bits says it.
ElementPosition scaled(const ElementPosition& place, std::uint64_t to, std::uint64_t from);

/// A value that belongs to one element of a stream.
template <class T>
struct Mark {
    ElementPosition place;
    T value;
};

namespace internal {

[[noreturn]] void throw_no_element(std::uint64_t element, std::uint64_t elements);
[[noreturn]] void throw_no_fraction(std::uint32_t over, std::uint32_t under);

/// One more mark that has no room in a list: counted where the list's block says.
void count_lost_mark(const std::byte* block);

}  // namespace internal

/// The marks that a task gives: none, until it adds some.
template <class T>
class MarkList {
  public:
    MarkList(std::byte* block, std::size_t capacity, std::uint64_t elements)
        : marks_(block, capacity), block_(block), elements_(elements) {}

    std::size_t size() const { return marks_.size(); }
    std::size_t capacity() const { return marks_.capacity(); }

    /// Marks an element of the socket's. False where there is no room for it: lost, and counted in the run's
    /// report. Throws GraphError for an element that the socket does not have, and for no fraction of one.
    bool add(const ElementPosition& place, const T& value) const {
        if (place.element >= elements_) internal::throw_no_element(place.element, elements_);
        if (place.over >= place.under) internal::throw_no_fraction(place.over, place.under);
        if (marks_.size() == marks_.capacity()) {
            internal::count_lost_mark(block_);
            return false;
        }
        marks_.push_back({place, value});
        return true;
    }
    bool add(std::uint64_t element, const T& value) const { return add(ElementPosition{element}, value); }

  private:
    Elements<Mark<T>> marks_;
    std::byte* block_;
    std::uint64_t elements_;
};

}  // namespace tidemill

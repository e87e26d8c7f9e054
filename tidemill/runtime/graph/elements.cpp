#include "tidemill/runtime/graph/elements.hpp"

#include <atomic>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "tidemill/runtime/graph/graph_error.hpp"

namespace tidemill {

namespace {

// Products of two numbers of 64 bits.
__extension__ using Wide = unsigned __int128;

ElementPosition place_of(Wide over, Wide under) {
    const Wide element = over / under;
    over %= under;
    Wide a = over;
    Wide b = under;
    while (b != 0) a = std::exchange(b, a % b);
    constexpr Wide kMost = std::numeric_limits<std::uint32_t>::max();
    if (under / a > kMost || element > std::numeric_limits<std::uint64_t>::max())
        throw GraphError("a mark's place is no fraction of 32 bits any more: round it where it is given");
    return {static_cast<std::uint64_t>(element), static_cast<std::uint32_t>(over / a),
            static_cast<std::uint32_t>(under / a)};
}

}  // namespace

ElementPosition scaled(const ElementPosition& place, std::uint64_t to, std::uint64_t from) {
    if (to == from) return place;
    const std::uint64_t shared = std::gcd(to, from);
    to /= shared;
    from /= shared;
    // The whole elements first: with their number, the numerator could have more than 128 bits.
    const Wide whole = Wide{place.element} * to;
    const Wide rest = whole % from * place.under + Wide{place.over} * to;
    ElementPosition scaled = place_of(rest, Wide{from} * place.under);
    scaled.element += static_cast<std::uint64_t>(whole / from);
    return scaled;
}

void internal::throw_no_room(std::size_t count, std::size_t room) {
    throw GraphError(
        fmt::format("{} elements, where a frame has room for {}: declare more with upto()", count, room));
}

void internal::throw_no_element(std::uint64_t element, std::uint64_t elements) {
    throw GraphError(fmt::format("a mark on element {}, but the socket has {}, from 0", element, elements));
}

void internal::throw_no_fraction(std::uint32_t over, std::uint32_t under) {
    throw GraphError(
        fmt::format("a mark's place is an element and {}/{} of one: give less than 1", over, under));
}

// Behind the word that says how many elements there are stands where to count: see LostMarks.
void internal::count_lost_mark(const std::byte* block) {
    std::atomic<std::uint64_t>* count = nullptr;
    std::memcpy(&count, block + sizeof(count), sizeof(count));
    if (count) count->fetch_add(1, std::memory_order_relaxed);
}

}  // namespace tidemill

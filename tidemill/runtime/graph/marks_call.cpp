#include "tidemill/runtime/graph/marks_call.hpp"

#include <cstring>

namespace tidemill {

namespace {

std::byte* list_of(const internal::FrameContext& context, const MarksRead::Lists& lists,
                   std::uint64_t firing) {
    return context.bases[static_cast<std::size_t>(lists.at.base)] + lists.at.offset + firing * lists.bytes;
}

void set_count(std::byte* list, std::uint32_t count) {
    std::memcpy(list, &count, sizeof(count));
}

// A mark begins with its place; of its value nothing is known here but the bytes.
void hand_on(const MarksRead& read, const std::byte* mark, ElementPosition place,
             const internal::FrameContext& context) {
    const std::uint64_t firing = place.element / read.to.elements;
    std::byte* list = list_of(context, read.to, firing);
    const std::uint32_t count = internal::elements_in(list);
    if (count == read.to.capacity) {
        read.lost->fetch_add(1, std::memory_order_relaxed);
        return;
    }
    std::byte* copy = list + internal::kElementsAt + std::size_t{count} * read.mark_bytes;
    std::memcpy(copy, mark, read.mark_bytes);
    place.element = place.element % read.to.elements + read.to.overlap;
    std::memcpy(copy, &place, sizeof(place));
    set_count(list, count + 1);
}

void hand_on_all(const MarksRead& read, const internal::FrameContext& context) {
    for (std::uint32_t firing = 0; firing < read.to.firings; ++firing)
        set_count(list_of(context, read.to, firing), 0);
    const std::uint64_t to = std::uint64_t{read.to.elements} * read.to.firings;
    const std::uint64_t from = std::uint64_t{read.from.elements} * read.from.firings;
    for (std::uint32_t firing = 0; firing < read.from.firings; ++firing) {
        const std::byte* list = list_of(context, read.from, firing);
        for (std::uint32_t i = 0; i < internal::elements_in(list); ++i) {
            const std::byte* mark = list + internal::kElementsAt + std::size_t{i} * read.mark_bytes;
            ElementPosition place;
            std::memcpy(&place, mark, sizeof(place));
            place.element += std::uint64_t{firing} * read.from.elements;
            hand_on(read, mark, scaled(place, to, from), context);
        }
    }
}

}  // namespace

Flow MarksCall::call(Module& module, const internal::TaskCode& code, Frame frame) {
    const MarksCall& self = internal::pointed_to<const MarksCall>(code);
    for (const MarksRead& read : self.step_.marks) hand_on_all(read, frame.context());
    return self.inner_(module, frame);
}

}  // namespace tidemill

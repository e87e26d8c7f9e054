#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tidemill/runtime/graph/frame.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/stream/knob_table.hpp"

namespace tidemill {

/// The place of a base in a frame's context.
constexpr std::size_t index_of(internal::Base base) {
    return static_cast<std::size_t>(base);
}

/// Words of a segment's tokens beside what sockets carry: the knobs' values under which a frame began, and
/// its number in its branch, where the segment has frames of several.
struct TokenWords {
    TokenWords(const Plan& plan, std::uint32_t segment)
        : has_knobs(plan.has_knobs),
          is_numbered(segment > 0 && !plan.branches.empty()),
          knobs_at(plan.segments[segment].knobs_at),
          number_at(plan.segments[segment].number_at) {}

    /// Number of a frame of the segment in its branch.
    std::uint64_t number(std::uint64_t frame, const std::byte* token) const {
        if (is_numbered) std::memcpy(&frame, token + number_at, sizeof(frame));
        return frame;
    }
    void set_number(std::byte* token, std::uint64_t number) const {
        if (is_numbered) std::memcpy(token + number_at, &number, sizeof(number));
    }

    std::byte* knobs_of(const internal::FrameContext& context) const {
        return context.bases[index_of(internal::Base::token)] + knobs_at;
    }
    /// Has tasks see the values that the context's token names.
    void look_up_knobs(internal::FrameContext& context) const {
        if (has_knobs)
            context.bases[index_of(internal::Base::knobs)] =
                internal::knobs_at(knobs_of(context))->values.data();
    }
    std::vector<std::byte> copy_of_knobs(const internal::FrameContext& context) const {
        return has_knobs ? internal::knobs_at(knobs_of(context))->copy() : std::vector<std::byte>{};
    }

    bool has_knobs;
    bool is_numbered;
    std::uint32_t knobs_at;
    std::uint32_t number_at;
};

}  // namespace tidemill

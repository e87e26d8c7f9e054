#include "tidemill/dvbs2/sync/internal/front_path.hpp"

#include <algorithm>

namespace tidemill::dvbs2::internal {

void FrontPath::turn(std::uint64_t place, double frequency, bool found) {
    Turn next = turns_.back();
    next.cycles = cycles(place);
    next.place = place;
    if (found)
        next.away = next.frequency - frequency;
    else
        next.frequency = frequency + next.away;
    if (next.frequency != turns_.back().frequency || next.away != turns_.back().away) turns_.push_back(next);
}

void FrontPath::forget_before(std::uint64_t place) {
    while (turns_.size() > 1 && turns_[1].place <= place) turns_.pop_front();
}

const FrontPath::Turn& FrontPath::turn_at(std::uint64_t place) const {
    const auto after = std::ranges::upper_bound(turns_, place, {}, &Turn::place);
    return after == turns_.begin() ? turns_.front() : *(after - 1);
}

bool FrontPath::turns(std::uint64_t from, std::uint64_t to) const {
    const Turn* const first = &turn_at(from);
    const Turn* const last = &turn_at(to);
    if (first == last) return false;
    return std::ranges::any_of(turns_, [&](const Turn& turn) {
        return turn.place > first->place && turn.place <= last->place && turn.frequency != first->frequency;
    });
}

double FrontPath::cycles(std::uint64_t place) const {
    const Turn& turn = turn_at(place);
    return turn.cycles + turn.frequency * static_cast<double>(static_cast<std::int64_t>(place - turn.place));
}

}  // namespace tidemill::dvbs2::internal

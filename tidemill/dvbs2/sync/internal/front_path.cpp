#include "tidemill/dvbs2/sync/internal/front_path.hpp"

#include <algorithm>

namespace tidemill::dvbs2::internal {

void FrontPath::turn(std::uint64_t place, double frequency, bool found) {
    const Turn& last = turns_.back();
    if (found) {
        away_ = last.frequency - frequency;
        return;
    }
    if (frequency + away_ == last.frequency) return;
    turns_.push_back({place, frequency + away_, cycles(place)});
}

void FrontPath::forget_before(std::uint64_t place) {
    while (turns_.size() > 1 && turns_[1].place <= place) turns_.pop_front();
}

const FrontPath::Turn& FrontPath::turn_at(std::uint64_t place) const {
    const auto after = std::ranges::upper_bound(turns_, place, {}, &Turn::place);
    return after == turns_.begin() ? turns_.front() : *(after - 1);
}

bool FrontPath::turns(std::uint64_t from, std::uint64_t to) const {
    return &turn_at(from) != &turn_at(to);
}

double FrontPath::cycles(std::uint64_t place) const {
    const Turn& turn = turn_at(place);
    return turn.cycles + turn.frequency * static_cast<double>(static_cast<std::int64_t>(place - turn.place));
}

}  // namespace tidemill::dvbs2::internal

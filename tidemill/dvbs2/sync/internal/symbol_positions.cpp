#include "tidemill/dvbs2/sync/internal/symbol_positions.hpp"

#include <algorithm>

namespace tidemill::dvbs2::internal {

void SymbolPositions::mark(std::uint64_t place, const StrobeMark& mark) {
    runs_.push_back({place, mark.place, mark.step, mark.leaps ? 1U : 0U});
}

void SymbolPositions::forget_before(std::uint64_t place) {
    while (runs_.size() > 1 && runs_[1].begin <= place) runs_.pop_front();
}

double SymbolPositions::at(std::uint64_t place) const {
    const auto after = std::ranges::upper_bound(runs_, place, {}, &Run::begin);
    const Run& run = after == runs_.begin() ? runs_.front() : *(after - 1);
    return run.place + run.step * static_cast<double>(static_cast<std::int64_t>(place - run.begin));
}

std::optional<double> SymbolPositions::leap(std::uint64_t from, std::uint64_t to) const {
    for (auto run = std::ranges::upper_bound(runs_, from, {}, &Run::begin);
         run != runs_.end() && run->begin <= to; ++run) {
        if (run->leaps != 0) return run->place;
    }
    return std::nullopt;
}

}  // namespace tidemill::dvbs2::internal

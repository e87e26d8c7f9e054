#include "tidemill/dvbs2/receiver/shared_spectra.hpp"

#include <algorithm>

namespace tidemill::dvbs2 {

std::uint32_t SharedSpectra::begin() {
    const std::scoped_lock lock(mutex_);
    const auto free = std::ranges::find(places_, 0U, [](const auto& place) { return place->readers_left; });
    const auto number = static_cast<std::uint32_t>(free - places_.begin());
    if (free == places_.end()) places_.push_back(std::make_unique<Place>());
    places_[number]->spectra.clear();
    places_[number]->readers_left = readers_;
    return number;
}

SharedSpectra::Spectra& SharedSpectra::at(std::uint32_t place) {
    const std::scoped_lock lock(mutex_);
    return places_.at(place)->spectra;
}

void SharedSpectra::done(std::uint32_t place) {
    const std::scoped_lock lock(mutex_);
    --places_.at(place)->readers_left;
}

}  // namespace tidemill::dvbs2

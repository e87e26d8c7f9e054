#pragma once

#include <string_view>

#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

/// The profile with a kind of cores that nobody measured: each task takes `times` as long there as on the
/// kind `like`. Its warnings say so. Throws ScheduleError for a kind that it has, for one like a device or
/// like none, and for a factor that is not above 0.
Profile with_kind(Profile profile, std::string_view kind, std::string_view like, double times);

/// The profile with the platform's kinds, where that takes no choice: what one kind alone was measured on has
/// all others like that one. Otherwise the same profile.
Profile with_kinds_of(Profile profile, const Platform& platform);

}  // namespace tidemill

#pragma once

#include <cstdint>
#include <string_view>

#include "tidemill/dvbs2/channel/channel.hpp"
#include "tidemill/options/command_line.hpp"

namespace tidemill::cli {

/// Range of an option that sets a field of a channel, whatever the others are.
Range range_of(std::string_view field);

/// Throws WrongUsage for a value that a channel cannot have, with the option of the verb that gave it.
void check_values(const dvbs2::ChannelConfig& channel, double symbol_rate_hz, const Verb& verb);

/// Throws WrongUsage for an option that would do nothing to so many samples, or leave none of them.
void check_places(const dvbs2::ChannelConfig& channel, std::uint64_t samples, const Verb& verb);

}  // namespace tidemill::cli

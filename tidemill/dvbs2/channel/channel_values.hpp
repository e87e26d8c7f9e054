#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/dvbs2/channel/channel.hpp"

namespace tidemill::dvbs2 {

/// From where to where a value may be, and why where the two numbers do not say it.
struct ChannelLimits {
    double least = 0, most = 0;
    std::string_view why{};
};

/// A value of a channel.
struct ChannelValue {
    std::string_view field;  ///< as a ChannelConfig has it: "disturbances.tones.gain_db"
    double value = 0;
    ChannelLimits limits{};
    std::size_t index = 0;  ///< in the list that the field is of

    bool is_possible() const { return value >= limits.least && value <= limits.most; }
};

/// All values of a channel that can be wrong. Those of rates come first, for limits of others follow from
/// them.
std::vector<ChannelValue> values_of(const ChannelConfig& config);

/// None where all are possible.
std::optional<ChannelValue> first_impossible(const ChannelConfig& config);

/// "from -1 to 1 (half the sample rate)", or in another unit, which is so many of the field's.
std::string in_words(const ChannelLimits& limits, double unit = 1);

}  // namespace tidemill::dvbs2

#pragma once

#include <vector>

namespace tidemill {

/// A time that was measured in many short windows, on a machine whose other programs only ever add to it.
struct Undisturbed {
    double us = 0;  ///< a tenth of the windows took no more
    double lower_quartile_us = 0;
    double median_us = 0;
    double upper_quartile_us = 0;

    /// Whether the least is repeated: a quarter of the windows took no more than so much longer. Else what
    /// was measured is what other programs left over.
    bool is_repeated_within(double tolerance_us) const { return lower_quartile_us - us <= tolerance_us; }
};

/// Result of at least one window.
Undisturbed undisturbed(const std::vector<double>& windows_us);

}  // namespace tidemill

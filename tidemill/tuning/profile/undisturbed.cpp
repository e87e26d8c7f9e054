#include "tidemill/tuning/profile/undisturbed.hpp"

#include "tidemill/base/quantile.hpp"

namespace tidemill {

Undisturbed undisturbed(const std::vector<double>& windows_us) {
    return {quantile(windows_us, 0.1), quantile(windows_us, 0.25), quantile(windows_us, 0.5),
            quantile(windows_us, 0.75)};
}

}  // namespace tidemill

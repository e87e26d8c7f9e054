#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/scheduling/static/internal/joined_tasks.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::internal {

/// A way to use the devices of a platform: at most so many of each, in batches of one size.
struct DeviceUse {
    struct Kind {
        std::string kind;
        int devices;
        int batch;          ///< frames, where a task does not take fewer
        double executions;  ///< that such a batch may cover, at most
    };

    Chain chain;     ///< with the weights that tasks have in such batches
    Platform cores;  ///< with so many devices
    std::vector<Kind> kinds{};
    std::optional<JoinedTasks> joined{};  ///< which the chain has as one, if any

    /// Executions whose frames wait for their batches at a time, at most, beside those that complete them.
    double waiting() const;
    /// Gives the stages on devices their batches.
    void set_batches(Schedule& schedule) const;
};

/// All of them: none of a kind, or any number in batches of most, a half, a quarter, ... of the frames that
/// tasks take at once; the same with neighbours as one task. One where there is no device.
std::vector<DeviceUse> device_uses(const Chain& chain, const Platform& cores, const CostModel& model = {});

}  // namespace tidemill::internal

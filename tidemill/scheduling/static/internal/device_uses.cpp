#include "tidemill/scheduling/static/internal/device_uses.hpp"

#include <algorithm>
#include <cmath>

namespace tidemill::internal {
namespace {

int most_frames(const Chain& chain, const std::string& kind) {
    int most = 1;
    for (const ChainTask& task : chain.tasks)
        if (const BatchCost* cost = batch_cost(task, kind)) most = std::max(most, cost->most_frames);
    return most;
}

// Adds one more kind to a use.
DeviceUse with(DeviceUse use, const std::string& kind, int devices, int batch) {
    double executions = 1;
    const std::size_t column = use.chain.kind_index(kind);
    for (ChainTask& task : use.chain.tasks) {
        const auto cost = std::ranges::find(task.batches, kind, &BatchCost::kind);
        if (cost == task.batches.end()) continue;
        cost->most_frames = std::min(cost->most_frames, batch);
        task.weight_us[column] = cost->weight_us(cost->most_frames);
        if (cost->frames > 0) executions = std::max(executions, std::ceil(cost->most_frames / cost->frames));
    }
    use.cores.set(kind, devices);
    if (devices > 0) use.kinds.push_back({kind, devices, batch, executions});
    return use;
}

void add_uses(const std::vector<CoreCount>& devices, DeviceUse use, std::vector<DeviceUse>& all) {
    if (devices.empty()) {
        if (!use.kinds.empty()) use.chain = rounded(std::move(use.chain));
        all.push_back(std::move(use));
        return;
    }
    const CoreCount device = devices.back();
    const std::vector<CoreCount> others(devices.begin(), devices.end() - 1);
    const int most = most_frames(use.chain, device.kind);
    add_uses(others, with(use, device.kind, 0, most), all);
    for (int count = 1; count <= device.count; ++count)
        for (int batch = most; batch > 0; batch /= 2)
            add_uses(others, with(use, device.kind, count, batch), all);
}

}  // namespace

double DeviceUse::waiting() const {
    double waiting = 0;
    for (const Kind& kind : kinds) waiting += kind.devices * (kind.executions - 1);
    return waiting;
}

void DeviceUse::set_batches(Schedule& schedule) const {
    for (Stage& stage : schedule.stages) {
        const auto used = std::ranges::find(kinds, stage.core_kind, &Kind::kind);
        if (used == kinds.end()) continue;
        stage.batch = used->batch;
        for (const ChainTask& task : tasks_of(stage, chain))
            stage.batch = std::min(*stage.batch, batch_cost(task, stage.core_kind)->most_frames);
    }
}

std::vector<DeviceUse> device_uses(const Chain& chain, const Platform& cores, const CostModel& model) {
    std::vector<CoreCount> devices;
    for (const CoreCount& kind : cores.kinds())
        if (kind.count > 0 && chain.is_device(kind.kind)) devices.push_back(kind);
    std::vector<DeviceUse> all;
    add_uses(devices, {chain, cores}, all);
    for (const CoreCount& device : devices)
        for (JoinedTasks& joined : joined_tasks(chain, device.kind, model)) {
            const Chain with_one = joined.chain;
            add_uses(devices, {.chain = with_one, .cores = cores, .joined = std::move(joined)}, all);
        }
    return all;
}

}  // namespace tidemill::internal

#include "tidemill/scheduling/static/device_choice.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tidemill/scheduling/static/internal/joined_tasks.hpp"

namespace tidemill {
namespace {

std::vector<CoreCount> devices_of(const Chain& chain, const Platform& platform) {
    std::vector<CoreCount> devices;
    for (const CoreCount& kind : platform.kinds())
        if (kind.count > 0 && chain.is_device(kind.kind)) devices.push_back(kind);
    return devices;
}

Platform without(Platform platform, const std::vector<CoreCount>& kinds) {
    for (const CoreCount& kind : kinds) platform.set(kind.kind, 0);
    return platform;
}

const ChainTask& task_on(const Chain& chain, const std::string& device) {
    return *std::ranges::find_if(chain.tasks,
                                 [&](const ChainTask& task) { return batch_cost(task, device); });
}

// Time of the first task that the device has code for on the fastest core.
std::string costs(const Chain& chain, const std::string& device, const Platform& cores) {
    const ChainTask& task = task_on(chain, device);
    const BatchCost& cost = *batch_cost(task, device);
    std::string kind;
    double least_us = kCannotRun;
    for (std::size_t k = 0; k < chain.kinds.size(); ++k) {
        if (cores.count(chain.kinds[k]) == 0 || !(task.weight_us[k] < least_us)) continue;
        kind = chain.kinds[k];
        least_us = task.weight_us[k];
    }
    std::string parts;
    if (cost.alone.is_measured()) {
        const double copies_us = cost.alone.copies.us(cost.most_frames);
        parts = fmt::format(" (one takes {:.0f} us, {:.0f} of it copies by {})",
                            copies_us + cost.alone.kernel.us(cost.most_frames), copies_us, cost.alone.memory);
    }
    return fmt::format(
        "a frame of {} takes {:.1f} us on {} in batches of {}{}, and {:.1f} us of the host; on "
        "{} it takes {:.1f} us",
        task.name, cost.weight_us(cost.most_frames) / cost.frames, device, cost.most_frames, parts,
        cost.host_us, kind, least_us / cost.frames);
}

std::string batch_of(const Schedule& schedule, const std::string& device) {
    const auto stage = std::ranges::find(schedule.stages, device, &Stage::core_kind);
    return fmt::format("{} runs on {} in batches of {}", schedule.task_names[stage->first_task], device,
                       stage->batch.value_or(1));
}

bool uses(const Schedule& schedule, const std::string& kind) {
    return std::ranges::find(schedule.stages, kind, &Stage::core_kind) != schedule.stages.end();
}

std::string loss(const Schedule& with, const std::string& device, double alone_us) {
    if (!uses(with, device))
        return fmt::format("no schedule with a stage on it is faster than {:.2f} us", alone_us);
    return fmt::format("with it the period would be {:.2f} us, without it it is {:.2f} us", *with.period_us,
                       alone_us);
}

// Also of those in which some neighbours go there together, so that their frames stay.
Schedule fastest_with(const Chain& chain, const Platform& platform, const std::string& device,
                      const Strategy& strategy, const Objective& objective, const CostModel& model) {
    Schedule best = strategy.schedule(chain, platform, objective, model);
    for (const internal::JoinedTasks& joined : internal::joined_tasks(chain, device, model)) {
        Schedule other = strategy.schedule(joined.chain, platform, objective, joined.model);
        other = joined.parted(std::move(other), chain, model);
        if (*other.period_us < *best.period_us) best = std::move(other);
    }
    return best;
}

}  // namespace

DeviceChoice choose_device(const Chain& chain, const Platform& platform, const Strategy& strategy,
                           const Objective& objective, const CostModel& model, double least_gain) {
    const Platform cores = without(platform, devices_of(chain, platform));
    return choose_device(strategy.schedule(chain, cores, objective, model), chain, platform, strategy,
                         objective, model, least_gain);
}

DeviceChoice choose_device(Schedule alone, const Chain& chain, const Platform& platform,
                           const Strategy& strategy, const Objective& objective, const CostModel& model,
                           double least_gain) {
    const std::vector<CoreCount> devices = devices_of(chain, platform);
    const Platform cores = without(platform, devices);
    DeviceChoice choice{std::move(alone)};
    const double alone_us = *choice.schedule.period_us;
    for (const CoreCount& device : devices) {
        Platform both = cores;
        both.set(device.kind, device.count);
        Schedule with = fastest_with(chain, both, device.kind, strategy, objective, model);
        const double with_us = *with.period_us;
        const double most_us = choice.device ? *choice.schedule.period_us : (1 - least_gain) * alone_us;
        if (uses(with, device.kind) && with_us < most_us) {
            choice.why = fmt::format("{}: the period is {:.2f} us, without it {:.2f} us",
                                     batch_of(with, device.kind), with_us, alone_us);
            choice.schedule = std::move(with);
            choice.device = device.kind;
        } else if (!choice.device) {
            choice.why = fmt::format("the device is not worth it here: {}; {}",
                                     costs(chain, device.kind, cores), loss(with, device.kind, alone_us));
        }
    }
    return choice;
}

void add_device(Chain& chain, const std::string& task, const BatchCost& cost) {
    if (std::ranges::find(chain.kinds, cost.kind) != chain.kinds.end())
        throw ScheduleError(
            fmt::format("chain: core kind '{}' is there already; give the device another name", cost.kind));
    const auto found = std::ranges::find(chain.tasks, task, &ChainTask::name);
    if (found == chain.tasks.end())
        throw ScheduleError(fmt::format("chain: no task is named '{}', which runs on '{}'", task, cost.kind));
    chain.kinds.push_back(cost.kind);
    for (ChainTask& each : chain.tasks) {
        each.weight_us.push_back(kCannotRun);
        if (!each.spread.empty()) each.spread.emplace_back();
    }
    found->weight_us.back() = cost.weight_us(cost.most_frames);
    found->batches.push_back(cost);
    chain = rounded(std::move(chain));
}

}  // namespace tidemill

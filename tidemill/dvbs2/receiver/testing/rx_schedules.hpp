#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

/// Ways to cut the receiver into stages: for the receiver's tests.
namespace tidemill::dvbs2::internal {

/// The chain that a schedule of the receiver is for.
inline std::vector<ScheduledUnit> receiver_units() {
    MemorySource nothing({});
    Receiver receiver(nothing, {}, [](auto) {});
    return structure_of(receiver.graph()).units;
}

/// A border after unit i where borders[i]; `threads` for stages that may be replicated, else one.
inline Schedule schedule_of(std::span<const ScheduledUnit> units, const std::vector<bool>& borders,
                            int threads) {
    Schedule schedule;
    bool replicable = true;
    for (std::size_t i = 0; i < units.size(); ++i) {
        schedule.task_names.push_back(units[i].name);
        if (i == 0 || borders[i - 1]) {
            schedule.stages.emplace_back().first_task = i;
            schedule.stages.back().core_kind = "big";
            replicable = true;
        }
        Stage& stage = schedule.stages.back();
        ++stage.task_count;
        replicable = replicable && units[i].replicable;
        stage.threads = replicable ? threads : 1;
    }
    return schedule;
}

/// Any borders, 1 to 4 threads where they are allowed, rings of 1 to 4 frames, both ways of waiting.
inline Schedule random_schedule(std::span<const ScheduledUnit> units, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t density = 1 + random() % 7;
    std::vector<bool> borders;
    for (std::size_t i = 0; i + 1 < units.size(); ++i) borders.push_back(random() % 8 < density);
    Schedule schedule = schedule_of(units, borders, 4);
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        Stage& stage = schedule.stages[s];
        stage.threads = 1 + static_cast<int>(random() % static_cast<std::uint64_t>(stage.threads));
        if (s + 1 == schedule.stages.size()) break;
        stage.sync_buff_size = 1 + static_cast<int>(random() % 4);
        // Rings wait in the mixed way where nothing is said.
        if (random() % 3 > 0) stage.waiting = random() % 2 ? WaitMode::active : WaitMode::passive;
    }
    return schedule;
}

}  // namespace tidemill::dvbs2::internal

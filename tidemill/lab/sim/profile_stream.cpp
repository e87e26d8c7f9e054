#include "tidemill/lab/sim/profile_stream.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemill {

namespace {

// Times are relative to the least one, which is above 0 for any that means something.
double least_us(const std::vector<double>& weights_us, const std::string& task,
                const std::vector<std::string>& kinds) {
    const double least = std::ranges::min(weights_us);
    if (std::isfinite(least)) return least;
    throw ScheduleError(
        fmt::format("task '{}' runs on none of the cores {}; add one of a kind that it has a weight for",
                    task, fmt::join(kinds, ", ")));
}

}  // namespace

ProfileStream profile_stream(const Chain& chain, const std::vector<std::string>& kinds) {
    ProfileStream stream;
    stream.graph.name = "profile";
    for (const ChainTask& task : chain.tasks) {
        std::vector<double> weights_us;
        for (const std::string& kind : kinds) weights_us.push_back(task.weight_us[chain.kind_index(kind)]);
        const double least = least_us(weights_us, task.name, kinds);
        policy::KindSet may_run = 0;
        std::vector<double> slowdowns;
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            may_run |= std::isfinite(weights_us[kind]) ? policy::KindSet{1} << kind : 0;
            slowdowns.push_back(least > 0 && std::isfinite(weights_us[kind]) ? weights_us[kind] / least : 1);
        }
        if (!stream.graph.types.empty())
            stream.graph.edges.push_back({stream.graph.types.size() - 1, stream.graph.types.size()});
        stream.graph.types.push_back({task.name, least, 1, !task.replicable});
        stream.slowdowns.push_back(std::move(slowdowns));
        const bool everywhere = std::ranges::all_of(weights_us, [](double us) { return std::isfinite(us); });
        stream.type_kinds.push_back(everywhere ? policy::kAnyKind : may_run);
        stream.sequential.push_back(!task.replicable);
    }
    return stream;
}

void ProfileStream::put_into(const std::vector<int>& cores, TaskMachine& machine,
                             TaskScheduling& scheduling) const {
    machine.speeds.clear();
    machine.kinds.clear();
    for (std::size_t kind = 0; kind < cores.size(); ++kind)
        machine.kinds.insert(machine.kinds.end(), static_cast<std::size_t>(cores[kind]),
                             static_cast<policy::KindId>(kind));
    machine.speeds.assign(machine.kinds.size(), 1);
    machine.slowdowns = slowdowns;
    scheduling.type_kinds = type_kinds;
    scheduling.sequential = sequential;
    scheduling.work_us.clear();
    for (const StreamTaskType& type : graph.types) scheduling.work_us.push_back(type.work_us);
}

}  // namespace tidemill

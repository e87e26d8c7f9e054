#include "tidemill/lab/bench/device_costs.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/gpu/device/device_list.hpp"
#include "tidemill/gpu/device/increment_cost.hpp"
#include "tidemill/lab/bench/bench_conditions.hpp"
#include "tidemill/lab/bench/device_ldpc_table.hpp"
#include "tidemill/lab/bench/device_memory_table.hpp"
#include "tidemill/lab/bench/device_neighbours_table.hpp"
#include "tidemill/lab/bench/device_receiver_table.hpp"
#include "tidemill/lab/bench/runs.hpp"
#include "tidemill/options/result_table.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

constexpr std::uint64_t kPackets = 60'000;  // two thousand frames
constexpr std::size_t kMostBytes = std::size_t{256} << 20U;

ResultTable launch_table(Device& device) {
    const std::vector<double> us = launch_us(device, 100 * kRuns);
    return {fmt::format("{}: a kernel with nothing to do, from launch to known end", device.info().id),
            {{"us", 2}, {"+-%", 0, false, "spread_percent"}, {"least us", 2, false, "least_us"}},
            {{median(us), spread_percent(us), *std::ranges::min_element(us)}},
            {fmt::format("median of {}", us.size())}};
}

std::vector<std::function<ResultTable()>> tables_of(const std::shared_ptr<Device>& device) {
    return {[=] { return device_memory_table(*device, kMostBytes); }, [=] { return launch_table(*device); },
            [=] { return device_neighbours_table(device); }, [=] { return device_ldpc_table(device); },
            [=] { return device_receiver_table(device->info().id, kPackets); }};
}

Json report_of(const FoundDevice& found, bool prints) {
    const std::shared_ptr<Device> device = found.open();
    Json report{
        {"device", device->info().id}, {"name", device->info().name}, {"driver", device->info().driver}};
    report["tables"] = Json::array();
    for (const auto& measure : tables_of(device)) {
        const ResultTable table = measure();
        report["tables"].push_back(to_json(table));
        if (prints) print("{}\n", to_text(table));
    }
    return report;
}

std::vector<FoundDevice> wanted(const std::string& id) {
    if (!id.empty()) return {find_device(id)};
    FoundDevices found = find_devices();
    std::erase_if(found.devices, [](const FoundDevice& each) { return !each.info.same_as.empty(); });
    if (found.devices.empty())
        throw JobFailed(fmt::format("there is no device here. {}", fmt::join(found.absent, ". ")));
    return found.devices;
}

}  // namespace

Json device_costs(const std::string& device, bool prints) {
    const std::vector<FoundDevice> devices = wanted(device);
    const BenchConditions conditions = conditions_here();
    Json report{{"benchmark", "device"}, {"machine", to_json(conditions)}};
    report["devices"] = Json::array();
    if (prints) print("{}\n", to_text(conditions));
    for (const FoundDevice& each : devices) report["devices"].push_back(report_of(each, prints));
    return report;
}

}  // namespace tidemill::cli

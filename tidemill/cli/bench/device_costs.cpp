#include "tidemill/cli/bench/device_costs.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "tidemill/cli/bench/bench_conditions.hpp"
#include "tidemill/cli/bench/device_ldpc_table.hpp"
#include "tidemill/cli/bench/runs.hpp"
#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/result_table.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/device/device_error.hpp"
#include "tidemill/device/device_list.hpp"
#include "tidemill/device/increment_cost.hpp"

namespace tidemill::cli {

namespace {

std::string size_text(std::size_t bytes) {
    return bytes < (1U << 20U) ? fmt::format("{} KiB", bytes >> 10U) : fmt::format("{} MiB", bytes >> 20U);
}

double gigabytes_per_second(std::size_t bytes, double us) {
    return static_cast<double>(bytes) / us / 1000;
}

void add_row(Device& device, MemoryPolicy policy, std::size_t bytes, ResultTable& table) {
    try {
        const IncrementCost cost = increment_cost(device, policy, bytes, kRuns);
        const double first_us = median(cost.first_us), back_us = median(cost.back_us);
        table.rows.push_back({std::string(name(policy)), size_text(bytes), first_us,
                              spread_percent(cost.first_us), median(cost.second_us), back_us,
                              spread_percent(cost.back_us), gigabytes_per_second(bytes, first_us)});
    } catch (const DeviceError& error) {
        table.notes.emplace_back(error.what());
    }
}

ResultTable memory_table(Device& device) {
    constexpr std::size_t kMost = std::size_t{256} << 20U;
    ResultTable table{fmt::format("{}: incrementing a buffer, by memory policy and size, us (medians of {})",
                                  device.info().id, kRuns),
                      {{"policy"},
                       {"size"},
                       {"first", 1, false, "first_us"},
                       {"+-%", 0, false, "first_spread_percent"},
                       {"second", 1, false, "second_us"},
                       {"back", 1, false, "back_us"},
                       {"+-%", 0, false, "back_spread_percent"},
                       {"first GB/s", 2, false, "first_gbps"}}};
    table.notes = {
        "first: written by the host, moved and incremented; second: again, where it is; back: moved and "
        "read by the host"};
    for (const MemoryPolicy policy : device.info().policies) {
        if (policy == MemoryPolicy::resident) continue;
        for (std::size_t bytes = 4096; bytes <= kMost; bytes *= 4) add_row(device, policy, bytes, table);
    }
    return table;
}

ResultTable launch_table(Device& device) {
    const std::vector<double> us = launch_us(device, 100 * kRuns);
    return {fmt::format("{}: a kernel with nothing to do, from launch to known end", device.info().id),
            {{"us", 2}, {"+-%", 0, false, "spread_percent"}, {"least us", 2, false, "least_us"}},
            {{median(us), spread_percent(us), *std::ranges::min_element(us)}},
            {fmt::format("median of {}", us.size())}};
}

std::vector<std::function<ResultTable()>> tables_of(const std::shared_ptr<Device>& device) {
    return {[=] { return memory_table(*device); }, [=] { return launch_table(*device); },
            [=] { return device_ldpc_table(device); }};
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
    FoundDevices found = find_devices();
    if (!id.empty())
        std::erase_if(found.devices, [&](const FoundDevice& each) { return each.info.id != id; });
    if (found.devices.empty()) {
        throw JobFailed("no such device; here is:\n" + describe(find_devices()));
    }
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

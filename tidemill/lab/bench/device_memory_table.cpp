#include "tidemill/lab/bench/device_memory_table.hpp"

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/increment_cost.hpp"
#include "tidemill/lab/bench/runs.hpp"

namespace tidemill::cli {

namespace {

double gigabytes_per_second(std::size_t bytes, double us) {
    return static_cast<double>(bytes) / us / 1000;
}

void add_row(Device& device, MemoryPolicy policy, std::size_t bytes, ResultTable& table) {
    try {
        const IncrementCost cost = increment_cost(device, policy, bytes, kRuns);
        if (cost.first_us.empty()) {
            table.rows.push_back(
                {std::string(name(policy)), size_text(bytes), {}, {}, median(cost.second_us), {}, {}, {}});
            return;
        }
        const double first_us = median(cost.first_us), back_us = median(cost.back_us);
        table.rows.push_back({std::string(name(policy)), size_text(bytes), first_us,
                              spread_percent(cost.first_us), median(cost.second_us), back_us,
                              spread_percent(cost.back_us), gigabytes_per_second(bytes, first_us)});
    } catch (const DeviceError& error) {
        table.notes.emplace_back(error.what());
    }
}

}  // namespace

std::string size_text(std::size_t bytes) {
    return bytes < (1U << 20U) ? fmt::format("{} KiB", bytes >> 10U) : fmt::format("{} MiB", bytes >> 20U);
}

ResultTable device_memory_table(Device& device, std::size_t most_bytes) {
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
        "read by the host",
        "resident: what the task before leaves on the device for the next one there; no host is in it"};
    for (const MemoryPolicy policy : device.info().policies) {
        for (std::size_t bytes = 4096; bytes <= most_bytes; bytes *= 4) add_row(device, policy, bytes, table);
    }
    return table;
}

}  // namespace tidemill::cli

#include "tidemill/lab/bench/device_neighbours_table.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/offload/device_map.hpp"
#include "tidemill/gpu/offload/increment_rows.hpp"
#include "tidemill/lab/bench/device_memory_table.hpp"
#include "tidemill/lab/bench/runs.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill::cli {

namespace {

constexpr std::uint32_t kBatch = 16;

struct Numbers : Module {
    explicit Numbers(std::size_t count)
        : y(out<std::uint32_t>("y", count)), make(task("make", &Numbers::run)) {}
    Out<std::uint32_t> y;
    Task make;
    void run(Frame f) { std::ranges::fill(f[y], static_cast<std::uint32_t>(f.number())); }
};

struct Count : Module {
    explicit Count(std::size_t count) : x(in<std::uint32_t>("x", count)), look(task("look", &Count::run)) {}
    In<std::uint32_t> x;
    Task look;
    std::uint64_t right = 0;
    void run(Frame f) {
        const auto wanted = static_cast<std::uint32_t>(f.number() + 2);
        right += f[x].front() == wanted && f[x].back() == wanted;
    }
};

// One stage for both: each has a thread all the same.
Schedule schedule() {
    Schedule made;
    for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 2}, {3, 1}}) {
        Stage& stage = made.stages.emplace_back();
        stage.first_task = first;
        stage.task_count = count;
        stage.core_kind = count == 2 ? "gpu" : "big";
    }
    made.stages[1].batch = kBatch;
    return made;
}

double us_of_frame(const std::shared_ptr<Device>& device, MemoryPolicy memory, std::size_t bytes,
                   bool stays) {
    constexpr std::size_t kAllBytes = std::size_t{32} << 20U;
    const std::size_t frames =
        std::clamp(kAllBytes / bytes, std::size_t{4} * kBatch, std::size_t{100} * kBatch);
    const auto tokens = std::make_shared<DeviceTokens>(device);
    const auto rows = stays ? std::make_shared<ResidentRows>(device, tokens, bytes) : nullptr;
    DeviceMapping mapping{.device = device,
                          .source = {device::increment_rows_kernels(), ""},
                          .kernel = "increment_rows",
                          .memory = memory,
                          .to = rows,
                          .most_frames = kBatch};
    const std::size_t count = bytes / sizeof(std::uint32_t);
    Graph graph;
    auto& numbers = graph.add<Numbers>(count);
    auto& first = graph.add<DeviceMap>("first", count, mapping);
    std::swap(mapping.from, mapping.to);
    auto& second = graph.add<DeviceMap>("second", count, mapping);
    auto& end = graph.add<Count>(count);
    graph.bind(numbers.y, first.in);
    graph.bind(first.out, second.in);
    graph.bind(second.out, end.x);
    const RunReport report =
        Pipeline(graph, schedule(), {.batch_wait_us = 1e6, .memory = tokens}).run({.frames = frames});
    if (end.right != frames || second.use().found != (stays ? frames : 0))
        throw JobFailed(fmt::format("{}: of {} frames {} came out right, and {} had stayed there",
                                    device->info().id, frames, end.right, second.use().found));
    return 1e6 * report.elapsed_s / static_cast<double>(frames);
}

void add_row(const std::shared_ptr<Device>& device, MemoryPolicy memory, std::size_t bytes,
             ResultTable& table) {
    try {
        std::vector<double> crosses, stays, ratio;
        for (int run = 0; run < kRuns; ++run) {
            crosses.push_back(us_of_frame(device, memory, bytes, false));
            stays.push_back(us_of_frame(device, memory, bytes, true));
            ratio.push_back(stays.back() / crosses.back());
        }
        table.rows.push_back({std::string(name(memory)), size_text(bytes), median(crosses),
                              spread_percent(crosses), median(stays), spread_percent(stays), median(ratio),
                              spread_percent(ratio)});
    } catch (const DeviceError& error) {
        table.notes.emplace_back(error.what());
    } catch (const RunError& error) {
        table.notes.emplace_back(error.what());
    }
}

}  // namespace

ResultTable device_neighbours_table(const std::shared_ptr<Device>& device) {
    ResultTable table{
        fmt::format(
            "{}: two tasks one behind the other in batches of {}, us a frame (medians of {}, by turns)",
            device->info().id, kBatch, kRuns),
        {{"policy"},
         {"frame"},
         {"crosses", 1, false, "crosses_us"},
         {"+-%", 0, false, "crosses_spread_percent"},
         {"stays", 1, false, "stays_us"},
         {"+-%", 0, false, "stays_spread_percent"},
         {"ratio", 3},
         {"+-%", 0, false, "ratio_spread_percent"}}};
    table.notes = {
        "policy: by which frames come to the first task and back from the second; stays: in between they are "
        "resident, otherwise they cross there, too"};
    for (const MemoryPolicy policy : device->info().policies) {
        if (policy == MemoryPolicy::resident) continue;
        for (const std::size_t bytes : {4U << 10U, 64U << 10U, 1U << 20U})
            add_row(device, policy, bytes, table);
    }
    return table;
}

}  // namespace tidemill::cli

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/gpu/device/stand_in.hpp"
#include "tidemill/gpu/offload/device_map.hpp"
#include "tidemill/gpu/offload/increment_rows.hpp"
#include "tidemill/gpu/offload/testing/increments_here.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/scheduling/static/batch_line.hpp"
#include "tidemill/testing/quiet_machine.hpp"

using namespace tidemill;

namespace {

using testing::is_quiet, testing::least_of, testing::median_of_five;

using Clock = std::chrono::steady_clock;

constexpr int kBatch = 16;
constexpr std::size_t kNumbers = 4096;
constexpr std::size_t kPartsOfRow = 16;  // groups that a DeviceMap has for so many numbers

/// How long the parts of a batch of 16 frames take, for each of two tasks.
struct PartTimes {
    double copy_us;  // each way
    double kernel_us;
};

std::shared_ptr<StandInDevice> device_of(const PartTimes& parts) {
    StandInOptions options{.first_sent_first = true};  // from one batch to the next
    options.kernels["increment_rows"] = {internal::increment_rows, [parts](WorkSize size) {
                                             return parts.kernel_us * static_cast<double>(size.groups) /
                                                    (kBatch * kPartsOfRow);
                                         }};
    options.us_per_kilobyte = parts.copy_us * 1024 / (kBatch * sizeof(std::uint32_t) * kNumbers);
    return std::make_shared<StandInDevice>(options);
}

struct Zeroes : Module {
    Out<std::uint32_t> y = out<std::uint32_t>("y", kNumbers);
    Task make = task("make", &Zeroes::run);
    void run(Frame f) { f[y][0] = 0; }
};

struct ArrivalTimes : Module {
    explicit ArrivalTimes(int frames) : every(frames) {}
    In<std::uint32_t> x = in<std::uint32_t>("x", kNumbers);
    Task keep = task("keep", &ArrivalTimes::run);
    int every;
    std::vector<Clock::time_point> times{};

    void run(Frame f) {
        if (f.number() % static_cast<std::uint64_t>(every) == 0) times.push_back(Clock::now());
    }
};

Schedule one_stage_on_device(std::size_t tasks, int batch) {
    Schedule schedule = internal::test_schedule({{1, 1}, {tasks, 1}, {1, 1}});
    schedule.stages[1].core_kind = "gpu";
    schedule.stages[1].batch = batch;
    return schedule;
}

/// From batch to batch, in the middle of a run of one task or two on a device.
double real_period_us(const PartTimes& parts, std::size_t tasks, bool stays, int batch = kBatch) {
    constexpr std::size_t kFirst = 8, kBatches = 60;
    const auto device = device_of(parts);
    const auto tokens = std::make_shared<DeviceTokens>(device);
    const auto rows =
        stays ? std::make_shared<ResidentRows>(device, tokens, sizeof(std::uint32_t) * kNumbers) : nullptr;
    DeviceMapping mapping{.device = device,
                          .source = {device::increment_rows_kernels(), ""},
                          .kernel = "increment_rows",
                          .memory = MemoryPolicy::pinned,
                          .most_frames = 64};
    Graph graph;
    auto& source = graph.add<Zeroes>();
    std::vector<DeviceMap*> maps;
    for (std::size_t task = 0; task < tasks; ++task) {
        mapping.from = task > 0 ? rows : nullptr;
        mapping.to = task + 1 < tasks ? rows : nullptr;
        maps.push_back(&graph.add<DeviceMap>(fmt::format("map{}", task), kNumbers, mapping));
        graph.bind(task > 0 ? maps[task - 1]->out : source.y, maps.back()->in);
    }
    auto& end = graph.add<ArrivalTimes>(batch);
    graph.bind(maps.back()->out, end.x);
    const std::size_t frames = static_cast<std::size_t>(batch) * kBatches;
    Pipeline(graph, one_stage_on_device(tasks, batch), {.batch_wait_us = 1e6, .memory = tokens})
        .run({.frames = frames});
    REQUIRE(end.times.size() == kBatches);
    CHECK(maps.back()->use().found == (stays ? frames : 0));
    return testing::period_us(std::span(end.times).subspan(kFirst, kBatches - 2 - kFirst), kBatchesUnderWay);
}

// The line of what takes so long in batches of two sizes.
BatchCost line_of(const auto& us_of_batch) {
    std::vector<BatchTimes> times;
    for (const int frames : {8, 32}) times.push_back({static_cast<double>(frames), us_of_batch(frames), 0});
    BatchCost cost = batch_line(times);
    cost.kind = "gpu";
    return cost;
}

/// By a profile of two other sizes: each task alone, and both with what stays between them.
double predicted_period_us(const PartTimes& parts) {
    const BatchCost one = line_of([&](int frames) { return real_period_us(parts, 1, false, frames); });
    const BatchCost both = line_of([&](int frames) { return real_period_us(parts, 2, true, frames); });
    const BatchLine saved{std::max(0.0, one.batch_us - both.batch_us / 2),
                          std::max(0.0, one.frame_us - both.frame_us / 2)};
    Chain chain{{"big", "gpu"}, {{"a", false, {1, kCannotRun}}}};
    for (const char* name : {"b", "c"}) {
        chain.tasks.push_back({name, false, {1e5, one.weight_us(kBatch)}});
        chain.tasks.back().batches = {one};
    }
    chain.tasks[1].batches[0].out = chain.tasks[2].batches[0].in = saved;
    chain.tasks.push_back({"d", false, {1, kCannotRun}});
    check(chain);
    return kBatch * period_us(one_stage_on_device(2, kBatch), chain);
}

}  // namespace

TEST_CASE("neighbours on a device: what stays there is not copied, and the period is that of what remains") {
    for (const PartTimes parts : {PartTimes{4000, 1000}, PartTimes{2000, 2500}, PartTimes{1000, 4000}}) {
        const double crosses_us = 2 * std::max(parts.copy_us, parts.kernel_us);  // one unit for both tasks
        const double stays_us = std::max(parts.copy_us, 2 * parts.kernel_us);
        const double measured_us = least_of(1.05 * stays_us, [&] { return real_period_us(parts, 2, true); });
        const double crossing_us =
            least_of(1.05 * crosses_us, [&] { return real_period_us(parts, 2, false); });
        fmt::print(
            "neighbours: copies {} us, kernel {} us: {:.0f} us ({:.3f} of the largest), {:.0f} "
            "({:.3f}) where they cross\n",
            parts.copy_us, parts.kernel_us, measured_us, measured_us / stays_us, crossing_us,
            crossing_us / crosses_us);
        if (!is_quiet()) continue;
        CHECK(measured_us > 0.99 * stays_us);
        CHECK(measured_us < 1.05 * stays_us);
        CHECK(crossing_us < 1.05 * crosses_us);
    }
}

TEST_CASE("neighbours on a device: the period is what a schedule predicts by other batches within 5 %") {
    for (const PartTimes parts : {PartTimes{4000, 1000}, PartTimes{2000, 2500}}) {
        const double predicted_us = median_of_five([&] { return predicted_period_us(parts); });
        const double measured_us = median_of_five([&] { return real_period_us(parts, 2, true); });
        fmt::print("neighbours: predicted {:.0f} us, measured {:.0f} us ({:.3f})\n", predicted_us,
                   measured_us, measured_us / predicted_us);
        if (is_quiet()) CHECK(std::abs(measured_us / predicted_us - 1) < 0.05);
    }
}

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/gpu/device/stand_in.hpp"
#include "tidemill/gpu/ldpc/device_ldpc_times.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/testing/quiet_machine.hpp"

using namespace tidemill;
using namespace tidemill::dvbs2;

namespace {

using testing::is_quiet, testing::least_of, testing::median_of_five;

using Clock = std::chrono::steady_clock;

constexpr int kBatch = 16;
const fec::Dvbs2Code& kCode = fec::dvbs2_code(fec::FrameSize::short_, fec::CodeRate::r1_2);

/// How long the parts of a batch of 16 frames take.
struct PartTimes {
    double copy_in_us;
    double kernel_us;
    double source_us = 0;

    double sum_us() const { return copy_in_us + kernel_us + source_us; }
    double largest_us() const { return std::max({copy_in_us, kernel_us, source_us}); }
};

// Every frame has converged at once.
void give_results(WorkSize size, std::span<const KernelArgument> arguments) {
    const auto results = StandInDevice::as<std::int32_t>(arguments[2]);
    for (std::size_t frame = 0; frame < size.groups; ++frame) {
        results[2 * frame] = 1;
        results[2 * frame + 1] = 1;
    }
}

std::shared_ptr<StandInDevice> device_of(const PartTimes& parts) {
    StandInOptions options{.first_sent_first = true};  // from one batch to the next
    options.kernels["ldpc"] = {give_results, [parts](WorkSize size) {
                                   return parts.kernel_us * static_cast<double>(size.groups) / kBatch;
                               }};
    options.us_per_kilobyte = parts.copy_in_us * 1024 / (kBatch * static_cast<double>(kCode.n));
    return std::make_shared<StandInDevice>(options);
}

struct EqualFrames : Module {
    explicit EqualFrames(double us) : us_of_batch(us) {}
    Out<fec::Llr> llrs = out<fec::Llr>("llrs", kMaxFecframeBits);
    Label<FrameInfo> info = label<FrameInfo>("info");
    Task next = task("next", &EqualFrames::make);
    double us_of_batch;

    void make(Frame f) {
        if (us_of_batch > 0 && f.number() % kBatch == 0)
            std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us_of_batch));
        f[info] = {};
        f[info].pls.modcod = 4;
        f[info].pls.size = kCode.frame_size;
    }
};

struct ArrivalTimes : Module {
    explicit ArrivalTimes(std::vector<Clock::time_point>& all) : times(&all) {}
    In<fec::LdpcResult> result = in<fec::LdpcResult>("result");
    Task keep = task("keep", &ArrivalTimes::run);
    std::vector<Clock::time_point>* times;

    void run(Frame f) {
        if (f.number() % kBatch == 0) times->push_back(Clock::now());
    }
};

Schedule three_stages() {
    Schedule schedule;
    for (std::size_t task = 0; task < 3; ++task) {
        Stage& stage = schedule.stages.emplace_back();
        stage.first_task = task;
        stage.task_count = 1;
        stage.core_kind = task == 1 ? "gpu" : "big";
    }
    schedule.stages[1].batch = kBatch;
    return schedule;
}

// Period of batches in the middle of a run.
double real_period_us(const PartTimes& parts) {
    constexpr std::size_t kFirst = 6, kBatches = 60;
    const LdpcOnDevice where{
        .device = device_of(parts), .memory = MemoryPolicy::pinned, .most_frames = kBatch};
    std::vector<Clock::time_point> times;
    Graph graph;
    auto& source = graph.add<EqualFrames>(parts.source_us);
    auto& ldpc = graph.add<RxLdpc>(fec::LdpcSettings{}, elsewhere(where));
    auto& sink = graph.add<ArrivalTimes>(times);
    graph.bind(source.llrs, ldpc.llrs);
    graph.bind(ldpc.result, sink.result);
    Pipeline(graph, three_stages(), {.batch_wait_us = 1e6}).run({.frames = kBatch * kBatches});
    REQUIRE(times.size() == kBatches);
    return testing::period_us(std::span(times).subspan(kFirst, kBatches - 1 - kFirst), kBatchesUnderWay);
}

// By a profile of two other sizes, as a schedule has it.
double predicted_period_us(const PartTimes& parts) {
    DeviceLdpcCodes codes({.device = device_of(parts), .memory = MemoryPolicy::pinned}, {});
    std::vector<BatchTimes> times;
    for (const std::size_t size : {8, 32}) {
        const std::vector<fec::Llr> llrs(static_cast<std::size_t>(kCode.n));
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(kCode.k_ldpc) / 8);
        fec::LdpcResult result{};
        const std::vector<LdpcFrame> frames(size, LdpcFrame{&kCode, llrs, bytes, &result});
        times.push_back(times_in_flight(codes, frames, 9));
    }
    BatchCost cost = batch_line(times);
    cost.kind = "gpu";
    Chain chain{{"big", "gpu"},
                {{"a", false, {1, kCannotRun}}, {"b", true, {1e5, 1e4}}, {"c", false, {1, kCannotRun}}}};
    chain.tasks[0].weight_us[0] = parts.source_us / kBatch;
    chain.tasks[1].batches = {cost};
    return kBatch * period_us(three_stages(), chain);
}

}  // namespace

TEST_CASE("device stage: copies, kernels and host overlap: the period is that of the largest within 5 %") {
    for (const PartTimes parts :
         {PartTimes{4000, 2000}, PartTimes{2000, 4000}, PartTimes{3000, 3000}, PartTimes{2000, 2000, 4000}}) {
        const double largest_us = parts.largest_us();
        const double measured_us = least_of(1.05 * largest_us, [&] { return real_period_us(parts); });
        fmt::print(
            "device stage: copies {} us, kernel {} us, source {} us: period {:.0f} us, {:.3f} of the "
            "largest\n",
            parts.copy_in_us, parts.kernel_us, parts.source_us, measured_us, measured_us / largest_us);
        CHECK(measured_us >
              (is_quiet() ? 0.99 * largest_us : 0));  // else one that came late ends the count early
        CHECK(measured_us < (is_quiet() ? 1.05 * largest_us : 0.9 * parts.sum_us()));
    }
}

TEST_CASE("device stage: the period is what a schedule predicts by a profile of other batches within 5 %") {
    for (const PartTimes parts : {PartTimes{8000, 4000}, PartTimes{4000, 8000}}) {
        const double predicted_us = median_of_five([&] { return predicted_period_us(parts); });
        const double measured_us = median_of_five([&] { return real_period_us(parts); });
        fmt::print("device stage: predicted {:.0f} us, measured {:.0f} us ({:.3f})\n", predicted_us,
                   measured_us, measured_us / predicted_us);
        if (is_quiet()) CHECK(std::abs(measured_us / predicted_us - 1) < 0.05);
    }
}

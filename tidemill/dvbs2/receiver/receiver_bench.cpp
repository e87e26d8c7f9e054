#include <array>
#include <filesystem>
#include <fstream>

#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/dvbs2/receiver/testing/rx_schedules.hpp"
#include "tidemill/dvbs2/receiver/testing/timed_reception.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/machine/memory.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

constexpr int kRuns = 5;
constexpr double kOneCoreTarget = 100;  // Mb/s
constexpr double kSequentialTarget = 250;

const bool kAsked =
    bench::ask({"receiver/memory",
                "How much memory does a receiver of normal frames have resident at most, with so many "
                "replicas of each "
                "replicable task, reading a file?",
                "MB"}) &&
    bench::ask({"receiver/rate",
                "How many Mb/s of information does the receiver give, from ci8 in memory to packets, QPSK "
                "8/9, short "
                "frames with pilots, locking excluded? Two cores by the schedule that HeRAD finds.",
                "Mb/s", "one core", "StreamPU, an EPYC of Zen 4"}) &&
    bench::ask({"receiver/task",
                "How many million symbols a second does each task of the receiver take on one core, and "
                "which of them "
                "are sequential?",
                "Msymbols/s"});

constexpr TimedSignal kShort{{10, FrameSize::short_, true}};
constexpr TimedSignal kShortAtEdge{{10, FrameSize::short_, true}, 7.5};

// Peak resident size of this process after it has received a file, 0 when frames were bad or missing.
double peak_of_reception(const std::string& path, int replicas) {
    recordings().clear();
    std::ofstream("/proc/self/clear_refs") << 5;  // what the process had before does not count
    io::RecordingReader source(io::open_recording(path, {dsp::SampleFormat::ci8, 2.0}));
    Receiver receiver(source, {}, [](auto) {});
    const auto units = receiver_units();
    std::vector<bool> borders;
    for (std::size_t i = 0; i + 1 < units.size(); ++i) {
        borders.push_back(units[i].replicable != units[i + 1].replicable);
    }
    if (replicas == 1) {
        Sequence(receiver.graph()).run();
    } else {
        Pipeline(receiver.graph(), schedule_of(units, borders, replicas)).run();
    }
    const FrameTotals& totals = receiver.totals();
    return totals.frames == 0 || totals.frames_bad > 0
               ? 0
               : static_cast<double>(memory_use().peak_bytes.value_or(0));
}

// The same of a child, so that nothing else is in it.
double peak_of_child(const std::string& path, int replicas) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return 0;
    double peak = 0;
    const pid_t child = fork();
    if (child == 0) {
        peak = peak_of_reception(path, replicas);
        _exit(write(ends[1], &peak, sizeof peak) == sizeof peak ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    if (status == 0 && read(ends[0], &peak, sizeof peak) != sizeof peak) peak = 0;
    close(ends[0]);
    close(ends[1]);
    return peak;
}

void memory(benchmark::State& state, int replicas, double target_mb) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("tidemill-memory-" + std::to_string(getpid()));
    {
        const auto bytes = make_recording({{10, FrameSize::normal, true}, 10, 300});
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    double peak = 0;
    for (auto _ : state) peak = peak_of_child(path, replicas);
    std::filesystem::remove(path);
    if (peak == 0) return state.SkipWithError("the child received nothing");
    state.SetLabel("replicas " + std::to_string(replicas));
    state.counters["ours"] = 1e-6 * peak;
    state.counters["target"] = target_mb;
}
BENCHMARK_CAPTURE(memory, one, 1, 60)->Name("receiver/memory/one")->Apply(bench::once);
BENCHMARK_CAPTURE(memory, many, 28, 200)->Name("receiver/memory/many")->Apply(bench::once);

void one_core(benchmark::State& state, const TimedSignal& signal) {
    const auto& recording = recording_of(signal);
    if (!receive_timed(recording).complete(signal)) return state.SkipWithError("frames are missing or bad");
    std::vector<double> rates;
    for (auto _ : state) {
        for (int run = 0; run < kRuns; ++run) rates.push_back(receive_timed(recording).totals.info_mbps());
    }
    bench::report_runs(state, rates);
    state.counters["published"] = 5.65;
    state.counters["target"] = kOneCoreTarget;
    state.SetLabel("one core, " + std::to_string(signal.esn0_db).substr(0, 4) + " dB");
}
BENCHMARK_CAPTURE(one_core, edge, kShortAtEdge)->Name("receiver/rate/one_core_7.5")->Apply(bench::once);
BENCHMARK_CAPTURE(one_core, usual, kShort)->Name("receiver/rate/one_core_10")->Apply(bench::once);

void two_cores(benchmark::State& state) {
    const auto& recording = recording_of(kShort);
    const Schedule schedule = schedule_found(recording, 2);
    if (!receive_timed(recording, &schedule).complete(kShort)) {
        return state.SkipWithError("frames are missing or bad");
    }
    bench::Ratio rates;
    for (auto _ : state) {
        for (int run = 0; run < kRuns; ++run) {
            const double two = receive_timed(recording, &schedule).totals.info_mbps();
            rates.add(two, receive_timed(recording).totals.info_mbps());
        }
    }
    rates.report(state, {.published = 10.4, .target = 1.8 * rates.baseline()});
    std::string label = "two cores, 10.0 dB";
    for (const Stage& stage : std::span(schedule.stages).subspan(1)) {
        label += ", cut at " + schedule.task_names.at(stage.first_task);
    }
    state.SetLabel(label);
}
BENCHMARK(two_cores)->Name("receiver/rate/two_cores_10")->Apply(bench::once);

// The median of each task's times in several receptions, for all cases at once.
struct TaskRate {
    std::string name;
    bool sequential;
    std::vector<double> msymbols;  // a second, of each run
    double us_per_frame;
    double percent;
};

std::vector<TaskRate> measure_tasks() {
    std::vector<TimedReception> runs;
    for (int run = 0; run < kRuns; ++run) runs.push_back(receive_timed(recording_of(kShort)));
    std::vector<TaskRate> rates;
    double whole_us = 0;
    for (const TaskReport& task : runs.front().run.tasks) {
        std::vector<double> us;
        for (const TimedReception& run : runs) us.push_back(run.task_us(task.name));
        const double time_us = median(us);
        whole_us += time_us;
        std::vector<double> msymbols;
        for (const double each_us : us)
            msymbols.push_back(static_cast<double>(runs.front().symbols) / each_us);
        rates.push_back({task.name, !runs.front().run.units[task.unit].replicable, std::move(msymbols),
                         time_us / static_cast<double>(runs.front().totals.frames), time_us});
    }
    for (TaskRate& rate : rates) rate.percent *= 100 / whole_us;
    return rates;
}

void task(benchmark::State& state) {
    static const std::vector<TaskRate> kRates = measure_tasks();
    const auto index = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(index);
    if (index >= kRates.size()) return state.SkipWithError("the receiver has no such task");
    const TaskRate& rate = kRates[index];
    state.SetLabel(rate.name + (rate.sequential ? " (sequential)" : ""));
    bench::report_runs(state, rate.msymbols);
    if (rate.sequential) state.counters["target"] = kSequentialTarget;
    state.counters["us_a_frame"] = rate.us_per_frame;
    state.counters["percent"] = rate.percent;
}
BENCHMARK(task)->Name("receiver/task")->DenseRange(0, 11)->Apply(bench::once);

}  // namespace
}  // namespace tidemill::dvbs2

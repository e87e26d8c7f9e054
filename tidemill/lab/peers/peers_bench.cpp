// Cost of a task of a stream on two threads, beside what other runtimes have for a stream.
#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include <benchmark/benchmark.h>

#include "tidemill/lab/peers/stream_peer.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::peers {

std::array<std::uint64_t, kWorkers> Tallies::take() {
    std::vector<std::uint64_t> counts;
    for (Tally& tally : all_) counts.push_back(std::exchange(tally.tasks, 0));
    std::ranges::sort(counts, std::greater{});
    std::array<std::uint64_t, kWorkers> busiest{};
    std::copy_n(counts.begin(), kWorkers, busiest.begin());
    return busiest;
}

[[gnu::noinline]] std::uint64_t run_task(TaskState& state, std::uint64_t value, std::uint64_t turns) {
    static constinit thread_local Tally* tally_here = nullptr;
    if (tally_here == nullptr) [[unlikely]]
        tally_here = &Tallies::add();
    ++tally_here->tasks;
    ++state.frames;
    state.hash = state.hash * 31 + value;
    for (std::uint64_t i = 0; i < turns; ++i) value = (value ^ value >> 29) * 0xbf58476d1ce4e5b9ull;
    return value;
}

namespace {

constexpr int kRounds = 11;
constexpr double kRunNs = 60e6;  // of a run, about

/// The tasks alone, in order on the calling thread.
class PlainStream final : public StreamPeer {
  public:
    std::string name() const override { return "in order"; }
    void run(std::uint64_t frames, std::uint64_t turns) override {
        for (std::uint64_t frame = 0; frame < frames; ++frame) {
            std::uint64_t value = states()[0].frames;
            for (TaskState& state : states()) benchmark::DoNotOptimize(value = run_task(state, value, turns));
        }
    }
};

/// Times of one runtime, run by run.
struct Taken {
    std::vector<double> task_ns{};
    std::array<std::vector<double>, kWorkers> busy_percent{};  ///< with tasks, of each worker's time
};

/// All runtimes on tasks of one length, in turn.
class Comparison {
  public:
    explicit Comparison(std::uint64_t work_ns) {
        peers_.push_back(std::make_unique<PlainStream>());
        for (auto make : {make_dynamic_stream, make_tbb_stream, make_taskflow_stream, make_streampu_stream})
            if (auto peer = make()) peers_.push_back(std::move(peer));
        taken_.resize(peers_.size());
        turns_ = turns_of(static_cast<double>(work_ns));
        frames_ = static_cast<std::uint64_t>(kRunNs / (kTasks * (25 + 0.6 * static_cast<double>(work_ns))));
        for (auto& peer : peers_) peer->run(frames_ / 10, turns_);
        for (int round = 0; round < kRounds; ++round)
            for (std::size_t p = 0; p < peers_.size(); ++p) measure(p);
    }

    void report(const std::string& name, benchmark::State& state) const {
        const auto peer = std::ranges::find(peers_, name, &StreamPeer::name);
        if (peer == peers_.end()) return state.SkipWithError("not there when this was built");
        const Taken& taken = taken_[static_cast<std::size_t>(peer - peers_.begin())];
        bench::report_runs(state, taken.task_ns);
        if (peer == peers_.begin()) return;
        for (std::size_t w = 0; w < kWorkers; ++w)
            state.counters["worker " + std::to_string(w + 1) + " busy %"] = median(taken.busy_percent[w]);
        if (name == "Dynamic") report_ratios(taken, state);
    }

    /// Names of those that there are; ours first.
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& peer : peers_) names.push_back(peer->name());
        return names;
    }

  private:
    static std::uint64_t turns_of(double work_ns) {
        constexpr std::uint64_t kMany = 4'000'000;
        TaskState state;
        const bench::CpuStopwatch watch;  // other programs must not make it less work
        benchmark::DoNotOptimize(run_task(state, 1, kMany));
        return static_cast<std::uint64_t>(work_ns / (watch.ns() / kMany));
    }

    void measure(std::size_t index) {
        StreamPeer& peer = *peers_[index];
        Tallies::take();
        const bench::Stopwatch watch;
        peer.run(frames_, turns_);
        const double elapsed_ns = watch.ns();
        check(peer);
        const double task_ns = elapsed_ns / static_cast<double>(frames_ * kTasks);
        taken_[index].task_ns.push_back(task_ns);
        const double alone_ns = taken_.front().task_ns.back();  // in order, just before
        const auto tasks = Tallies::take();
        for (std::size_t w = 0; w < kWorkers; ++w)
            taken_[index].busy_percent[w].push_back(100 * alone_ns * static_cast<double>(tasks[w]) /
                                                    elapsed_ns);
    }

    // The plain stream has run first, and each has run as many frames as all the others.
    void check(StreamPeer& peer) const {
        for (std::size_t k = 0; k < kTasks; ++k) {
            const TaskState& right = peers_.front()->states()[k];
            const TaskState& state = peer.states()[k];
            if (state.frames != right.frames || state.hash != right.hash)
                throw std::logic_error(peer.name() + " has not done what the tasks do in order");
        }
    }

    void report_ratios(const Taken& ours, benchmark::State& state) const {
        for (std::size_t p = 0; p < peers_.size(); ++p) {
            if (peers_[p]->name() == "Dynamic") continue;
            std::vector<double> ratios;
            for (std::size_t round = 0; round < kRounds; ++round)
                ratios.push_back(ours.task_ns[round] / taken_[p].task_ns[round]);
            state.counters["to " + peers_[p]->name()] = median(ratios);
        }
    }

    std::vector<std::unique_ptr<StreamPeer>> peers_;
    std::vector<Taken> taken_;
    std::uint64_t turns_ = 0;
    std::uint64_t frames_ = 0;
};

const Comparison& comparison_of(std::uint64_t work_ns) {
    static std::map<std::uint64_t, Comparison> all;
    return all.try_emplace(work_ns, work_ns).first->second;
}

void stream(benchmark::State& state, std::uint64_t work_ns, const char* name) {
    for (auto _ : state) comparison_of(work_ns);
    comparison_of(work_ns).report(name, state);
}

[[maybe_unused]] const bool kAsked = bench::ask(
    {"peers/stream",
     "What does a task of a stream of eight tasks with state cost on two threads, 64 frames in flight?\n"
     "All runtimes run the same tasks in turn. Busy: tasks that a worker ran, times what they take in order, "
     "of the run's time.",
     "ns a task"});

[[maybe_unused]] const bool kRegistered = [] {
    for (const std::uint64_t work_ns : {0u, 70u, 700u}) {
        for (const char* name : kStreamNames) {
            std::string title = "peers/stream/" + std::to_string(work_ns) + "_ns_of_work,_" + name;
            std::ranges::replace(title, ' ', '_');
            benchmark::RegisterBenchmark(title.c_str(), stream, work_ns, name)->Apply(bench::once);
        }
    }
    return true;
}();

}  // namespace
}  // namespace tidemill::peers

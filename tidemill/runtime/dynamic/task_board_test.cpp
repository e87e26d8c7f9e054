#include "tidemill/runtime/dynamic/task_board.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <random>

#include <doctest/doctest.h>

#include "tidemill/machine/tick_clock.hpp"

namespace tidemill {
namespace {

constexpr std::size_t kWorkers = 5;
constexpr double kUnitNs = 1e6;

// Fig. 4.6a for five workers: all of an iteration waits for a, which keeps state and takes as long as the
// rest.
void build_exhaustion(Graph& graph) {
    auto& a = graph.add(task("a", out<int>("y"), [](auto) {}));
    for (const char* name : {"b1", "b2", "b3", "b4", "c1", "c2", "c3", "c4"}) {
        auto& waits = graph.add(task(name, pure, in<int>("x"), [](auto) {}));
        graph.bind(a["y"], waits["x"]);
    }
}

double cost_ns(const DynamicUnit& unit) {
    if (unit.sequential) return kUnitNs;
    return kUnitNs * (unit.name.starts_with("b") ? 0.8 : 0.2);
}

// Workers of whom each is given what the board gives, in a time of their own.
class VirtualCrew {
  public:
    VirtualCrew(const std::vector<DynamicUnit>& units, const TaskBoard::Settings& settings)
        : units_(units), board_(units, settings), workers_(settings.kinds.size()) {}

    // The share of their time that the workers had something to do, in the later half of the frames.
    double settled_use(std::uint64_t frames) {
        while (!board_.finished() && board_.counts().delivered < frames / 2) step();
        const double work_before = work_ns_;
        const double before = now_ns_;
        while (!board_.finished()) step();
        return (work_ns_ - work_before) / (static_cast<double>(workers_.size()) * (now_ns_ - before));
    }

  private:
    struct Worker {
        std::vector<TaskRun> runs;
        double end_ns = 0;
    };

    // Idle workers ask; then the first task ends.
    void step() {
        for (std::size_t w = 0; w < workers_.size(); ++w) {
            if (workers_[w].runs.empty()) take(w);
        }
        const auto busy = [](const Worker& worker) { return worker.runs.empty() ? 1e300 : worker.end_ns; };
        const auto first = std::ranges::min_element(workers_, {}, busy);
        now_ns_ = first->end_ns;
        board_.complete(static_cast<policy::WorkerId>(first - workers_.begin()), first->runs,
                        in_ticks(now_ns_));
    }

    void take(std::size_t index) {
        Worker& worker = workers_[index];
        board_.take(static_cast<policy::WorkerId>(index), 0, worker.runs);
        worker.end_ns = now_ns_;
        for (TaskRun& run : worker.runs) {
            // A little apart, since nothing ends at once in a real run.
            const double jitter = 0.99 + 0.02 * static_cast<double>(random_() % 1000) / 1000;
            const double spent_ns = jitter * cost_ns(units_[run.unit]) * run.frames;
            run.ticks = in_ticks(spent_ns);
            worker.end_ns += spent_ns;
            work_ns_ += spent_ns;
        }
    }

    static std::uint64_t in_ticks(double ns) { return static_cast<std::uint64_t>(ns / ns_per_tick()); }

    const std::vector<DynamicUnit>& units_;
    TaskBoard board_;
    std::vector<Worker> workers_;
    std::mt19937_64 random_{1};
    double now_ns_ = 1e9;
    double work_ns_ = 0;
};

double settled_use(const std::string& policy) {
    constexpr std::uint64_t kFrames = 1000;
    Graph graph;
    build_exhaustion(graph);
    const Structure structure = structure_of(graph);
    const Plan plan = compile_apart(graph, structure);
    const std::vector<DynamicUnit> units = dynamic_units_of(graph, structure, plan);
    VirtualCrew crew(units, {.policy = policy,
                             .kinds = std::vector<policy::KindId>(kWorkers),
                             .tokens = {16},
                             .first_frames = {0},
                             .frames = kFrames});
    return crew.settled_use(kFrames);
}

}  // namespace

TEST_CASE("what the board tells the adaptive policies lets them cure exhaustion, as in simulation") {
    CHECK(settled_use("oldest") < 0.6);
    CHECK(settled_use("gpriority") > 0.98);
    CHECK(settled_use("apriority") > 0.98);
}

namespace {

// Two pure tasks between a source and a sink: a little core takes hardly longer for the one, and six times as
// long for the other.
void build_unequal(Graph& graph) {
    auto& source = graph.add(task("source", out<int>("y"), [](auto) {}));
    auto& steady = graph.add(task("steady", pure, in<int>("x"), out<int>("y"), [](auto, auto) {}));
    auto& hurt = graph.add(task("hurt", pure, in<int>("x"), out<int>("y"), [](auto, auto) {}));
    auto& sink = graph.add(task("sink", in<int>("x"), [](auto) {}));
    graph.chain(source, steady, hurt, sink);
}

constexpr policy::WorkerId kBigWorker = 0;
constexpr policy::WorkerId kLittleWorker = 1;

double unequal_cost_ns(const DynamicUnit& unit, policy::WorkerId worker) {
    if (unit.name.starts_with("so") || unit.name.starts_with("si")) return 1e4;
    if (worker == kBigWorker) return 1e6;
    return unit.name.starts_with("hurt") ? 6e6 : 1.1e6;
}

// A big and a little worker in a time of their own; each waits as long as the board says.
class TwoKinds {
  public:
    explicit TwoKinds(bool places) {
        build_unequal(graph_);
        const Structure structure = structure_of(graph_);
        const Plan plan = compile_apart(graph_, structure);
        units_ = dynamic_units_of(graph_, structure, plan);
        TaskBoard::Settings settings{
            .policy = "oldest", .kinds = {0, 1}, .tokens = {16}, .first_frames = {0}};
        settings.frames = 400;
        settings.places = places;
        settings.now = [this] { return in_ticks(now_ns_); };
        board_.emplace(units_, settings);
    }

    // Until so many frames are done; returns when that is.
    double run_until(std::uint64_t frames) {
        while (!board_->finished() && board_->counts().delivered < frames) step();
        return now_ns_;
    }
    // The big worker's next call takes so much longer. When the little one has begun what would else be the
    // big one's.
    double little_takes_over_after_ns(double held_up_ns) {
        while (!workers_[kBigWorker].runs.empty()) step();
        take(kBigWorker);
        workers_[kBigWorker].end_ns += held_up_ns;
        const double begun_ns = now_ns_;
        little_hurt_ns_ = 0;
        while (now_ns_ < begun_ns + held_up_ns && little_hurt_ns_ == 0) step();
        return (little_hurt_ns_ > 0 ? little_hurt_ns_ : now_ns_) - begun_ns;
    }

  private:
    struct Worker {
        std::vector<TaskRun> runs;
        double end_ns = 0;  // of its work, or of its patience
    };

    void step() {
        for (const policy::WorkerId worker : {kBigWorker, kLittleWorker})
            if (workers_[worker].runs.empty()) take(worker);
        const auto first = std::ranges::min_element(workers_, {}, &Worker::end_ns);
        now_ns_ = first->end_ns;
        if (first->runs.empty()) return;
        const auto worker = static_cast<policy::WorkerId>(first - workers_.begin());
        board_->complete(worker, first->runs, in_ticks(now_ns_));
    }

    void take(policy::WorkerId index) {
        Worker& worker = workers_[index];
        board_->take(index, 0, worker.runs);
        worker.end_ns = now_ns_;
        for (TaskRun& run : worker.runs) {
            if (index == kLittleWorker && units_[run.unit].name.starts_with("hurt"))
                little_hurt_ns_ = now_ns_;
            const double spent_ns = unequal_cost_ns(units_[run.unit], index) * run.frames;
            run.ticks = in_ticks(spent_ns);
            worker.end_ns += spent_ns;
        }
        if (!worker.runs.empty()) return;
        const std::uint64_t patience = board_->patience_ticks(index).value_or(in_ticks(1e5));
        worker.end_ns += std::min(to_ns(patience) + 1e3, 5e6);
    }

    static std::uint64_t in_ticks(double ns) { return static_cast<std::uint64_t>(ns / ns_per_tick()); }

    Graph graph_;
    std::vector<DynamicUnit> units_;
    std::optional<TaskBoard> board_;
    std::array<Worker, 2> workers_;
    double little_hurt_ns_ = 0;  // when the little worker last began what it is bad at
    double now_ns_ = 1e9;
};

}  // namespace

TEST_CASE("a board that places comes near what the cores can do, in the policy's order otherwise") {
    TwoKinds placed(true);
    TwoKinds anyhow(false);
    const auto period_ns = [](TwoKinds& cores) {
        const double before = cores.run_until(100);
        return (cores.run_until(350) - before) / 250;
    };
    const double placed_ns = period_ns(placed);
    CHECK(placed_ns < 1.05 * 1.06e6);  // each has about as much to do as the other
    CHECK(placed_ns < 0.8 * period_ns(anyhow));
}

TEST_CASE("a little core takes over when the big one is held up, two expected times after its own work") {
    TwoKinds cores(true);
    cores.run_until(100);
    constexpr double kOwnWorkNs = 16 * 1.1e6;  // of all frames in flight
    CHECK(cores.little_takes_over_after_ns(100e6) < kOwnWorkNs + 2 * 6e6);
}

}  // namespace tidemill

#include "tidemill/run/dynamic/task_board.hpp"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "tidemill/platform/tick_clock.hpp"

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

    // Whoever is idle asks; then the first task ends.
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

}  // namespace tidemill

#include "tidemill/lab/programs/real_run.hpp"

#include <set>

#include <doctest/doctest.h>

#include "tidemill/lab/programs/matrix_tiles.hpp"
#include "tidemill/lab/programs/stream_graph.hpp"
#include "tidemill/lab/sim/streamit.hpp"
#include "tidemill/lab/sim/task_graphs.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/scheduling/dynamic/policy_error.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {
namespace {

constexpr TaskProgramSize kSmall{.iterations = 20, .task_us = 1, .workers = 3};

// Leaves out one task of those that it gets; not a comparison, without which nothing can be wrong.
class AllButOne final : public TileTasks {
  public:
    AllButOne(TileTasks& tasks, std::uint64_t left_out) : tasks_(tasks), left_out_(left_out) {}

    void add(policy::TaskTypeId type, double work_us, std::uint64_t bytes, const Tile& written,
             const std::vector<Tile>& read) override {
        if (type == tiled_matrix::kCompare || number_++ != left_out_)
            tasks_.add(type, work_us, bytes, written, read);
    }
    void next_iteration() override {}

  private:
    TileTasks& tasks_;
    std::uint64_t left_out_;
    std::uint64_t number_ = 0;
};

template <class MatrixTilesOf, class Add>
double residual_without(std::uint64_t left_out, const std::vector<std::string>& types, Add add) {
    MatrixTilesOf tiles(4, 8);
    TileRun run(tiles, nullptr, types, Pastime::none, 0);
    AllButOne some(run, left_out);
    add(some, 4, 8);
    return tiles.residual();
}

}  // namespace

TEST_CASE("programs that show what accesses win come out as in order, commutative ones too") {
    TaskProgramSize size = kSmall;
    size.blocks = 5;
    for (const std::string_view name :
         {"pairs", "pairs-commutative", "pairs-reduction", "buffer", "buffer-renamed"}) {
        CAPTURE(name);
        const RealRun run =
            run_for_real(name, size, {.policy = "lifo", .workers = 3, .window = {.iterations = 4}});
        CHECK(run.tasks == make_task_program(name, size)->tasks());
    }
}

TEST_CASE("StreamIt's graphs come out as in order, under every policy and with more workers than cores") {
    std::size_t i = 0;
    for (const std::string_view name : streamit_names()) {
        CAPTURE(name);
        const std::string policy(policy::policies()[i++ % policy::policies().size()].name);
        const RealRun run = run_for_real(
            name, kSmall, {.policy = policy, .workers = 1 + i % 7, .window = {.iterations = 1 + i % 5}});
        CHECK(run.iterations == 20);
        CHECK(run.tasks >= 20 * streamit_graph(name).types.size());
        CHECK(run.in_tasks_us > 0);
        CHECK(run.token_bytes > 0);
    }
}

TEST_CASE("factorisations are right to the last digits but three, and the same as in order") {
    for (const std::size_t workers : {1, 2, 5}) {
        const RealRun lu = run_for_real("check-lu", kSmall, {.workers = workers});
        CHECK(lu.tasks == check_lu()->tasks());
        CHECK(*lu.residual < 1e-13);
        const RealRun symmetric = run_for_real("cholesky", kSmall, {.policy = "crit", .workers = workers});
        CHECK(symmetric.tasks == cholesky()->tasks());
        CHECK(*symmetric.residual < 1e-13);
    }
}

TEST_CASE("a factorisation without one of its tasks is not right") {
    const std::vector<std::string> lu = check_lu(4, 8)->types();
    const std::vector<std::string> symmetric = cholesky(4, 8)->types();
    const std::uint64_t all = cholesky(4, 8)->tasks();
    CHECK(residual_without<CholeskyTiles>(all, symmetric, tiled_matrix::add_cholesky) < 1e-13);
    for (std::uint64_t task = 0; task < all; ++task) {
        CAPTURE(task);
        CHECK(residual_without<CholeskyTiles>(task, symmetric, tiled_matrix::add_cholesky) > 1e-4);
    }
    CHECK(residual_without<LuTiles>(check_lu(4, 8)->tasks(), lu, tiled_matrix::add_check_lu) < 1e-13);
    for (std::uint64_t task = 0; task + 16 < check_lu(4, 8)->tasks(); ++task) {
        CAPTURE(task);
        CHECK(residual_without<LuTiles>(task, lu, tiled_matrix::add_check_lu) > 1e-4);
    }
}

TEST_CASE("the decoder's wave comes out as in order, with windows of one frame and of several") {
    for (const std::uint64_t window : {1, 4}) {
        const RealRun run =
            run_for_real("h264", {.iterations = 3}, {.workers = 3, .window = {.iterations = window}});
        CHECK(run.tasks == h264(3)->tasks());
        CHECK(run.iterations == 3);
    }
}

TEST_CASE("worst cases wait for real on more workers than there are cores") {
    const RealRun run =
        run_for_real("fig4.6a", {.iterations = 5, .workers = 8}, {.workers = 8, .pastime = Pastime::waiting});
    CHECK(run.tasks == 5 * (1 + 7 + 7));
    CHECK(run.in_tasks_us >= run.work_us);
    const RealRun joined =
        run_for_real("fig4.11", {.iterations = 200, .workers = 5}, {.workers = 2, .pastime = Pastime::none});
    CHECK(joined.iterations == 200);
}

TEST_CASE("what is recorded of a real run is every task once, and on each worker one after the other") {
    for (const std::string_view name : {"fm", "cholesky", "fig4.6a"}) {
        CAPTURE(name);
        const RealRun run = run_for_real(name, kSmall, {.workers = 3, .record = true});
        std::set<std::uint64_t> numbers;
        std::vector<double> ends(3);
        for (const RanTask& task : run.record) {
            numbers.insert(task.number);
            CHECK(task.type < run.types.size());
            CHECK(task.begin_us >= ends[task.worker]);
            CHECK(task.end_us >= task.begin_us);
            ends[task.worker] = task.end_us;
        }
        CHECK(run.record.size() == run.tasks);
        CHECK(numbers.size() == run.tasks);
        CHECK(run.record.front().begin_us == 0);
    }
    CHECK(run_for_real("cholesky", kSmall, {}).record.empty());
}

TEST_CASE("what a stream's task types make depends on every item, on state and on the number of frames") {
    StreamGraph stream{"small",
                       {{.name = "a", .firings = 2, .stateful = true}, {.name = "b"}},
                       {{.from = 0, .to = 1, .push = 1, .pop = 2, .peek = 3, .initial = 4}}};
    const auto digest = [](const StreamGraph& of, std::uint64_t frames) {
        StreamModules modules(of, Pastime::none);
        Sequence(modules.graph()).run({.frames = frames});
        return modules.digest();
    };
    const std::uint64_t usual = digest(stream, 10);
    CHECK(digest(stream, 10) == usual);
    CHECK(digest(stream, 11) != usual);
    stream.edges[0].initial = 1;
    CHECK(digest(stream, 10) != usual);
    stream.edges[0].initial = 4;
    stream.types[0].stateful = false;
    CHECK(digest(stream, 10) != usual);
}

TEST_CASE("programs, policies and windows that cannot be are refused") {
    CHECK_THROWS_AS(run_for_real("quicksort", kSmall, {}), ScheduleError);
    CHECK_THROWS_AS(run_for_real("fm", kSmall, {.policy = "best"}), policy::PolicyError);
    CHECK_THROWS_AS(run_for_real("fm", kSmall, {.window = {.bytes = 1}}), GraphError);
    CHECK_THROWS_AS(run_for_real("cholesky", kSmall, {.window = {.bytes = 1000}}), policy::PolicyError);
}

}  // namespace tidemill

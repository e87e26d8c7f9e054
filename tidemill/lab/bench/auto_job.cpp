#include "tidemill/lab/bench/auto_job.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/lab/bench/bench_chains.hpp"
#include "tidemill/lab/bench/bench_transmitter.hpp"
#include "tidemill/lab/programs/stream_graph.hpp"
#include "tidemill/lab/rehearsal.hpp"
#include "tidemill/lab/sim/random_chain.hpp"
#include "tidemill/lab/sim/streamit.hpp"
#include "tidemill/options/result_table.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/tuning/graph_run.hpp"

namespace tidemill::cli {

namespace {

/// Calls its argument with a graph of the program, made anew.
struct BenchProgram {
    std::string name;
    std::function<void(const std::function<void(Graph&)>&)> with_graph;
};

/// A way to run a program without asking.
struct Way {
    const char* name;
    ExecutorKind executor;
    const char* strategy;
};

constexpr Way kWays[] = {{"in order", ExecutorKind::sequence, "herad"},
                         {"pipeline", ExecutorKind::pipeline, "herad"},
                         {"packed", ExecutorKind::pipeline, "packed"},
                         {"dynamic", ExecutorKind::dynamic, "herad"},
                         {"threads", ExecutorKind::threads, "herad"}};

/// Microseconds a frame, a value for each round.
using Periods = std::vector<double>;

BenchProgram chain_program(std::string name, const Chain& chain) {
    return {std::move(name), [chain](const std::function<void(Graph&)>& use) {
                Rehearsal rehearsal(chain, Pastime::computing);
                use(rehearsal.graph());
            }};
}

BenchProgram transmitter_program() {
    return {"transmitter", [](const std::function<void(Graph&)>& use) {
                BenchTransmitter transmitter;
                use(transmitter.graph());
            }};
}

BenchProgram streamit_program(std::string_view name) {
    constexpr double kIterationUs = 400;
    StreamGraph stream = streamit_graph(name);
    const double factor = kIterationUs / stream.work_us();
    for (StreamTaskType& type : stream.types) type.work_us *= factor;
    return {std::string(name), [stream](const std::function<void(Graph&)>& use) {
                StreamModules modules(stream, Pastime::computing);
                use(modules.graph());
            }};
}

std::vector<BenchProgram> programs_of(const AutoBenchOptions& options) {
    std::vector<BenchProgram> programs{chain_program("ten tasks", ten_tasks()), transmitter_program()};
    for (const std::string_view name : streamit_names()) programs.push_back(streamit_program(name));
    std::mt19937_64 random(1);
    for (std::size_t c = 0; c < options.chains; ++c) {
        Chain chain = random_chain(random, {.tasks = 12, .heaviest = 60});
        chain.kinds = {"any"};
        for (ChainTask& task : chain.tasks) task.weight_us.resize(1);
        programs.push_back(chain_program(fmt::format("chain {}", c + 1), chain));
    }
    std::erase_if(programs,
                  [&](const BenchProgram& program) { return !program.name.starts_with(options.filter); });
    if (programs.empty())
        throw WrongUsage(fmt::format("bench auto: no program's name begins with '{}'", options.filter));
    return programs;
}

/// Runs programs on this machine.
class ProgramRuns {
  public:
    explicit ProgramRuns(double seconds) : seconds_(seconds) {}

    double period_us(const BenchProgram& program, const Way& way) const {
        RunConfig how{.executor = way.executor, .profile_s = seconds_, .seconds = seconds_};
        how.scheduling.strategy = &strategy(way.strategy);
        GraphRun run(std::move(how), topology_);
        run.prepare([&](const ProfileOptions& profiling) {
            std::optional<Profile> profile;
            program.with_graph(
                [&](Graph& graph) { profile = tidemill::profile(graph, topology_, profiling); });
            return *profile;
        });
        double period_us = 0;
        program.with_graph(
            [&](Graph& graph) { period_us = run.go(graph, {.statistics = false}).period_us(); });
        return period_us;
    }

    /// Once the choice is made: what it takes to make it is another question.
    double chosen_period_us(const BenchProgram& program, std::string& chosen) const {
        constexpr double kToChoose = 1.2;
        GraphRun run({.executor = ExecutorKind::automatic, .seconds = seconds_ + kToChoose}, topology_);
        run.prepare([](const ProfileOptions&) { return Profile(); });
        program.with_graph([&](Graph& graph) { run.go(graph, {.statistics = false}); });
        if (!run.choice() || !(run.forecast_came_to_us() > 0))
            throw JobFailed(fmt::format("{}: nothing was chosen in time; give more --seconds", program.name));
        chosen = run.choice()->way.name();
        return run.forecast_came_to_us();
    }

  private:
    double seconds_;
    Topology topology_ = Topology::here();
};

// Median of every second round, from the first or from the second on.
double median_us(const Periods& periods, std::size_t from) {
    Periods half;
    for (std::size_t r = from; r < periods.size(); r += 2) half.push_back(periods[r]);
    std::ranges::sort(half);
    return (half[(half.size() - 1) / 2] + half[half.size() / 2]) / 2;
}

double percent_over(double us, double than_us) {
    return 100 * (us / than_us - 1);
}

/// Result of a program's rounds.
struct Compared {
    std::string name;
    std::string best{};
    std::string chosen{};
    double best_us = 0;
    double auto_us = 0;
    double control_percent = 0;

    double percent() const { return percent_over(auto_us, best_us); }
};

Compared compare(const BenchProgram& program, const ProgramRuns& runs, int rounds) {
    std::vector<Periods> of_ways(std::size(kWays));
    Periods first, second;
    Compared compared{.name = program.name};
    for (int round = 0; round < rounds; ++round) {
        first.push_back(runs.chosen_period_us(program, compared.chosen));
        for (std::size_t w = 0; w < of_ways.size(); ++w)
            of_ways[w].push_back(runs.period_us(program, kWays[w]));
        second.push_back(runs.chosen_period_us(program, compared.chosen));
    }
    const auto best =
        std::ranges::min_element(of_ways, {}, [](const Periods& periods) { return median_us(periods, 0); });
    compared.best = kWays[best - of_ways.begin()].name;
    compared.best_us = median_us(*best, 1);
    compared.auto_us = (median_us(first, 1) + median_us(second, 1)) / 2;
    compared.control_percent = percent_over(median_us(second, 1), median_us(first, 1));
    return compared;
}

std::string summary_of(const std::vector<Compared>& programs,
                       const std::function<double(const Compared&)>& percent, const char* what) {
    std::vector<double> percents;
    for (const Compared& each : programs) percents.push_back(percent(each));
    std::ranges::sort(percents);
    const auto within = std::ranges::count_if(percents, [](double each) { return each <= 3; });
    return fmt::format("{}: {} of {} within 3 %, {:.1f} % in the median, {:.1f} % at worst.", what, within,
                       percents.size(), percents[percents.size() / 2], percents.back());
}

ResultTable table_of(const std::vector<Compared>& programs, const AutoBenchOptions& options) {
    ResultTable table{.title = fmt::format("What auto chooses beside the best single way, {} rounds of {} s",
                                           options.rounds, options.seconds),
                      .columns = {{"program"},
                                  {"best"},
                                  {"us", 1},
                                  {"auto chose"},
                                  {"us", 1, false, "auto_us"},
                                  {"over %", 1},
                                  {"control %", 1}}};
    for (const Compared& each : programs)
        table.rows.push_back({each.name, each.best, each.best_us, each.chosen, each.auto_us, each.percent(),
                              each.control_percent});
    table.notes = {summary_of(programs, &Compared::percent, "auto over the best"),
                   summary_of(
                       programs, [](const Compared& each) { return std::abs(each.control_percent); },
                       "auto beside auto")};
    return table;
}

}  // namespace

int run_auto_bench(const AutoBenchOptions& options) {
    const ProgramRuns runs(options.seconds);
    std::vector<Compared> compared;
    for (const BenchProgram& program : programs_of(options)) {
        compared.push_back(compare(program, runs, options.rounds));
        if (!options.json) tell("{}: {:+.1f} %\n", program.name, compared.back().percent());
    }
    const ResultTable table = table_of(compared, options);
    print("{}", options.json ? to_text(to_json(table), 2) + "\n" : to_text(table));
    return kDone;
}

}  // namespace tidemill::cli

#include "tidemill/lab/bench/forecast_job.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/base/json_location.hpp"
#include "tidemill/lab/bench/bench_chains.hpp"
#include "tidemill/lab/bench/bench_transmitter.hpp"
#include "tidemill/lab/bench/own_runs.hpp"
#include "tidemill/lab/rehearsal.hpp"
#include "tidemill/options/result_table.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/tuning/graph_run.hpp"

namespace tidemill::cli {

namespace {

/// How one forecast fared, in microseconds a frame.
struct Fared {
    Forecast forecast{};
    double real_us = 0;
    double in_order_us = 0;
    std::string by{};

    double ratio() const { return real_us / forecast.period_us; }
    bool holds() const { return forecast.least_us <= real_us && real_us <= forecast.most_us; }
};

double period_in(const JsonLocation& report) {
    return report.at("elapsed_s").number() * 1e6 / report.at("run").at("frames").number();
}

Fared run_receiver(const std::string& recording, const ForecastOptions& options) {
    const auto report_of = [&](const char* executor) {
        return parse_json(run_self({"dvbs2", "rx", recording, "--executor", executor, "--fresh", "--json"}),
                          "the receiver's report");
    };
    const Json in_order = report_of("sequence");
    const Json json = report_of(to_string(options.executor));
    const JsonLocation report(json, "the receiver's report");
    const JsonLocation forecast =
        report.at("forecast");  // null or without its end where the stream was short
    if (!forecast.value().find("came_to_us"))
        throw JobFailed("the recording was over before there was a forecast: give more --packets");
    return {{forecast.at("period_us").number(), forecast.at("least_us").number(),
             forecast.at("most_us").number()},
            forecast.at("came_to_us").number(),
            period_in(JsonLocation(in_order, "the receiver's report")),
            report.at("executor").text()};
}

constexpr std::uint64_t kGraphFrames = 8000;

/// Calls its argument with a graph, made anew.
using WithGraph = std::function<void(const std::function<void(Graph&)>&)>;

void with_ten_tasks(const std::function<void(Graph&)>& use) {
    Rehearsal chain(ten_tasks(), Pastime::computing);
    use(chain.graph());
}

void with_transmitter(const std::function<void(Graph&)>& use) {
    BenchTransmitter transmitter;
    use(transmitter.graph());
}

Fared run_graph(const WithGraph& with_graph, const Topology& topology, const ForecastOptions& options) {
    const auto period_of = [&](RunConfig how, Fared& fared) {
        GraphRun run(std::move(how), topology);
        run.prepare([&](const ProfileOptions& profiling) {
            Profile found;
            with_graph([&](Graph& graph) { found = profile(graph, topology, profiling); });
            return found;
        });
        RunReport report;
        with_graph([&](Graph& graph) { report = run.go(graph, {.statistics = false}); });
        if (run.forecast()) fared.forecast = *run.forecast();
        fared.by = to_string(run.executor());
        fared.real_us = run.forecast() ? run.forecast_came_to_us() : report.period_us();
        return report.period_us();
    };
    Fared fared;
    const double in_order_us = period_of({.executor = ExecutorKind::sequence, .frames = kGraphFrames}, fared);
    period_of({.executor = options.executor, .frames = kGraphFrames}, fared);
    fared.in_order_us = in_order_us;
    return fared;
}

template <class Of>
std::vector<double> sorted_by(const std::vector<Fared>& runs, Of of) {
    std::vector<double> values;
    for (const Fared& run : runs) values.push_back(of(run));
    std::ranges::sort(values);
    return values;
}

// How much two real runs in a row differ, in the median.
double spread_percent(const std::vector<Fared>& runs) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < runs.size(); ++i)
        steps.push_back(100 * std::abs(runs[i].real_us / runs[i - 1].real_us - 1));
    std::ranges::sort(steps);
    return steps.empty() ? 0 : steps[steps.size() / 2];
}

std::vector<Cell> forecast_row(const std::string& name, const std::vector<Fared>& runs) {
    const std::vector<double> ratios = sorted_by(runs, [](const Fared& run) { return run.ratio(); });
    const std::vector<double> off =
        sorted_by(runs, [](const Fared& run) { return std::abs(run.ratio() - 1); });
    const std::vector<double> faster =
        sorted_by(runs, [](const Fared& run) { return run.in_order_us / run.real_us; });
    const auto holds = static_cast<std::uint64_t>(std::ranges::count_if(runs, &Fared::holds));
    const std::size_t nine_of_ten = (9 * (runs.size() - 1) + 5) / 10;
    return {name,
            runs.back().by,
            runs.back().forecast.period_us,
            runs.back().real_us,
            ratios[ratios.size() / 2],
            100 * off[nine_of_ten],
            spread_percent(runs),
            holds,
            std::uint64_t{runs.size()},
            faster.front()};
}

ResultTable empty_forecast_table(const ForecastOptions& options) {
    return {.title = fmt::format("Real periods over predicted ones, {} runs each, executor {}", options.runs,
                                 to_string(options.executor)),
            .columns = {{"what"},
                        {"run by"},
                        {"predicted us", 1},
                        {"real us", 1},
                        {"median ratio", 3},
                        {"9 of 10 within %", 1},
                        {"two runs differ %", 1},
                        {"interval holds"},
                        {"of"},
                        {"least speed-up", 2}},
            .notes = {"Predicted and real are of the last run; the speed-up is over the same in order."}};
}

/// Something that is run again and again.
struct ForecastCase {
    std::string name;
    std::function<Fared()> run;
};

std::vector<ForecastCase> cases_of(const FolderForNow& folder, const Topology& topology,
                                   const ForecastOptions& options) {
    const std::string clean = folder / "clean.sigmf-meta";
    const std::string noisy = folder / "noisy.sigmf-meta";
    std::vector<ForecastCase> cases{
        {"receiver, clean", [=] { return run_receiver(clean, options); }},
        {"receiver, Es/N0 6.65 dB", [=] { return run_receiver(noisy, options); }},
        {"transmitter", [&] { return run_graph(with_transmitter, topology, options); }},
        {"chain of ten tasks", [&] { return run_graph(with_ten_tasks, topology, options); }}};
    std::erase_if(cases, [&](const ForecastCase& each) { return !each.name.starts_with(options.filter); });
    if (cases.empty())
        throw WrongUsage(fmt::format("bench forecast: no name begins with '{}'", options.filter));
    if (cases.front().name.starts_with("receiver")) {
        run_self({"dvbs2", "tx", "--random", std::to_string(options.packets), "--modcod", "QPSK 8/9",
                  "--frame", "short", "-o", clean});
        run_self({"dvbs2", "channel", clean, "-o", noisy, "--esn0", "6.65"});
    }
    return cases;
}

}  // namespace

int run_forecast(const ForecastOptions& options) {
    const FolderForNow folder("forecast");
    const Topology topology = Topology::here();
    ResultTable table = empty_forecast_table(options);
    for (const ForecastCase& each : cases_of(folder, topology, options)) {
        std::vector<Fared> runs;
        for (int i = 0; i < options.runs; ++i) runs.push_back(each.run());
        table.rows.push_back(forecast_row(each.name, runs));
    }
    print("{}", options.json ? to_text(to_json(table), 2) + "\n" : to_text(table));
    return kDone;
}

}  // namespace tidemill::cli

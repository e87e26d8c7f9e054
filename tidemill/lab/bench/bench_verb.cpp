#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/base/json.hpp"
#include "tidemill/base/plain_text.hpp"
#include "tidemill/lab/bench/auto_job.hpp"
#include "tidemill/lab/bench/bench_conditions.hpp"
#include "tidemill/lab/bench/bench_report.hpp"
#include "tidemill/lab/bench/child_program.hpp"
#include "tidemill/lab/bench/device_costs.hpp"
#include "tidemill/lab/bench/forecast_job.hpp"
#include "tidemill/lab/lab_verbs.hpp"
#include "tidemill/lab/waiting_job.hpp"
#include "tidemill/options/outside_verb.hpp"
#include "tidemill/options/scheduling_options.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

constexpr std::string_view kSuffix = "_bench";
constexpr const char* kHowToBuild =
    "build them with: cmake --preset release && cmake --build --preset release";

/// Some benchmarks of a room: those whose names begin with the topic's.
struct Topic {
    const char* name;
    const char* room;
    const char* question;
};

constexpr Topic kTopics[] = {
    {"graph", "runtime", "what a task, a turn of a loop and a look inside cost"},
    {"hop", "runtime", "what a frame's way from stage to stage costs, and what batches of frames save"},
    {"outside", "runtime", "what a frame costs that a program pushes into a stream, or pulls out of it"},
    {"locality", "lab", "which buffers and pinnings make a pipeline of memory-bound tasks worth it"},
    {"bridge", "lab", "what workers of two kinds make of tasks that little cores hurt more or less"},
    {"page", "apps", "what it costs a reception to be looked at"},
    {"baseline", "runtime", "found schedules beside a thread per task, and duplicates of a graph"},
};

struct BenchOptions {
    std::string name;
    std::string filter;
    std::string output;
    std::string device;
    std::vector<std::string> arguments;
    WaitingOptions waiting;
    ForecastOptions forecast;
    AutoBenchOptions autos;
    bool paper = false;
};

std::filesystem::path folder_of_program() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

// Rooms whose benchmark program lies beside this one.
std::vector<std::string> built_benchmarks() {
    std::vector<std::string> rooms;
    for (const auto& entry : std::filesystem::directory_iterator(folder_of_program())) {
        const std::string name = entry.path().filename();
        if (entry.is_regular_file() && name.ends_with(kSuffix)) {
            rooms.push_back(name.substr(0, name.size() - kSuffix.size()));
        }
    }
    std::ranges::sort(rooms);
    return rooms;
}

int list_benchmarks(bool json) {
    std::vector<std::pair<std::string, std::string>> names{
        {"waiting", "real pipelines of tasks that wait, beside their predicted periods"},
        {"forecast",
         "real periods beside those that were predicted: receiver, transmitter, a chain of ten tasks"},
        {"auto", "what --executor auto chooses beside the best single way, for many programs"},
        {"device", "what a GPU costs and brings: memory policies, launches, LDPC in batches, the receiver"}};
    const std::vector<std::string> rooms = built_benchmarks();
    for (const Topic& topic : kTopics) {
        if (std::ranges::find(rooms, topic.room) != rooms.end())
            names.emplace_back(topic.name, topic.question);
    }
    const char* const path = std::getenv("PATH");
    for (const std::string_view name : kOutsideBenchmarks) {
        if (outside_program("bench-" + std::string(name), path == nullptr ? "" : path))
            names.emplace_back(name, "of Python's package: see its --help");
    }
    for (const std::string& room : rooms) names.emplace_back(room, fmt::format("all of the room {}", room));
    if (json) {
        Json all = Json::array();
        for (const auto& name : names) all.push_back(name.first);
        print("{}\n", to_text(Json{{"benchmarks", all}}, 2));
        return kDone;
    }
    for (const auto& [name, what] : names) print("{:<10}  {}\n", name, what);
    if (rooms.empty()) tell("no room's benchmarks are built beside this program; {}\n", kHowToBuild);
    return kDone;
}

std::filesystem::path program_of(const std::string& room) {
    if (std::ranges::count(kOutsideBenchmarks, room) > 0)
        throw JobFailed(outside_program_missing("bench-" + room));
    const std::vector<std::string> rooms = built_benchmarks();
    if (std::ranges::find(rooms, room) == rooms.end()) {
        throw JobFailed(fmt::format("there is no {}{} beside this program; {}", room, kSuffix, kHowToBuild));
    }
    return folder_of_program() / (room + std::string(kSuffix));
}

std::string run_benchmark(const std::filesystem::path& program, std::vector<std::string> arguments,
                          const std::function<void(const std::string&)>& line_came) {
    Finished finished = run_child(program, arguments, line_came);
    if (finished.status == 0) return std::move(finished.output);
    throw JobFailed(fmt::format("{} ended with status {}: {}", program.filename().string(), finished.status,
                                finished.message));
}

/// Shows, on a terminal, the case that was measured last.
class Progress {
  public:
    explicit Progress(std::size_t cases) : cases_(cases) {}
    ~Progress() {
        if (shown_) draw("\r\x1b[K");
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void line_came(const std::string& line) {
        constexpr std::string_view kBegin = "\"run_name\": \"";
        const std::size_t begin = line.find(kBegin);
        if (begin == std::string::npos) return;
        const std::string name = line.substr(begin + kBegin.size(), line.rfind('"') - begin - kBegin.size());
        done_ += name != last_ ? 1 : 0;
        last_ = name;
        if (shown_) draw(fmt::format("\r\x1b[K{} of {}: {}", done_, cases_, plain_text(name)));
    }

  private:
    std::size_t cases_;
    std::size_t done_ = 0;
    std::string last_;
    bool shown_ = isatty(STDERR_FILENO) == 1;
};

std::vector<BenchGroup> measure(const std::filesystem::path& program, std::vector<std::string> arguments) {
    auto listing = arguments;
    listing.emplace_back("--benchmark_list_tests=true");
    const std::string names = run_benchmark(program, listing, {});
    const auto cases = static_cast<std::size_t>(std::ranges::count(names, '\n'));
    if (cases == 0) throw WrongUsage("no benchmark has such a name");
    arguments.emplace_back("--benchmark_format=json");
    Progress progress(cases);
    return read_benchmarks(
        run_benchmark(program, arguments, [&](const std::string& line) { progress.line_came(line); }));
}

void write(const std::string& path, const std::string& json) {
    std::ofstream file(path);
    file << json;
    if (!file.flush()) throw JobFailed(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

bool all_measured(const std::vector<BenchGroup>& groups) {
    return std::ranges::all_of(groups, [](const BenchGroup& group) {
        return std::ranges::all_of(group.cases, [](const BenchCase& each) { return each.error.empty(); });
    });
}

int run_room(const std::string& name, const BenchOptions& options) {
    const auto* const topic = std::ranges::find(kTopics, name, &Topic::name);
    const bool is_topic = topic != std::end(kTopics);
    const std::string cases = options.paper ? "^paper/.*" : is_topic ? fmt::format("^{}/.*", name) : "";
    std::vector<std::string> arguments{"--benchmark_repetitions=5", "--benchmark_min_time=0.05",
                                       fmt::format("--benchmark_filter={}{}", cases, options.filter)};
    arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
    const std::filesystem::path program = program_of(is_topic ? topic->room : name);
    const BenchConditions conditions = conditions_here();
    const std::vector<BenchGroup> groups = measure(program, arguments);
    const Json report{{"benchmark", name}, {"machine", to_json(conditions)}, {"groups", to_json(groups)}};
    const std::string json = to_text(report, 2) + "\n";
    if (!options.output.empty()) write(options.output, json);
    print("{}", options.waiting.json ? json : to_text(conditions) + "\n" + to_text(groups));
    return all_measured(groups) ? kDone : kJobFailed;
}

int run_device(const BenchOptions& options) {
    if (!options.arguments.empty() || !options.filter.empty()) {
        throw WrongUsage("bench device knows --device, --output and --json, and no other options");
    }
    const std::string json = to_text(device_costs(options.device, !options.waiting.json), 2) + "\n";
    if (!options.output.empty()) write(options.output, json);
    if (options.waiting.json) print("{}", json);
    return kDone;
}

int run_forecasts(const BenchOptions& options) {
    if (!options.arguments.empty() || !options.output.empty())
        throw WrongUsage(
            "forecast knows a filter, --executor, --runs, --packets and --json, and no other options");
    ForecastOptions forecast = options.forecast;
    forecast.filter = options.filter;
    forecast.json = options.waiting.json;
    return run_forecast(forecast);
}

int run_autos(const BenchOptions& options) {
    if (!options.arguments.empty() || !options.output.empty())
        throw WrongUsage(
            "auto knows a filter, --rounds, --run-seconds, --chains and --json, and no other options");
    AutoBenchOptions autos = options.autos;
    autos.filter = options.filter;
    autos.json = options.waiting.json;
    return run_auto_bench(autos);
}

// A topic may also be named behind the room that it is about: "dvbs2 page".
bool is_topic_of_dvbs2(const BenchOptions& options) {
    const auto* const topic = std::ranges::find(kTopics, options.filter, &Topic::name);
    return options.name == "dvbs2" && topic != std::end(kTopics) && topic->room == std::string_view("cli");
}

int run_bench(const BenchOptions& options) {
    if (is_topic_of_dvbs2(options)) {
        BenchOptions topic = options;
        topic.name = std::exchange(topic.filter, "");
        return run_room(topic.name, topic);
    }
    if (options.name.empty()) return list_benchmarks(options.waiting.json);
    if (options.name == "device") return run_device(options);
    if (options.name == "forecast") return run_forecasts(options);
    if (options.name == "auto") return run_autos(options);
    if (options.name != "waiting") return run_room(options.name, options);
    if (options.arguments.empty() && options.filter.empty() && options.output.empty()) {
        return run_waiting(options.waiting);
    }
    throw WrongUsage("waiting knows --period-ms, --frames, --strategy and --json, and no other options");
}

}  // namespace

void add_bench(Verb& program) {
    auto options = std::make_shared<BenchOptions>();
    Verb& verb =
        program.verb("bench", "Measure and compare: hops, tasks, caches, kernels; alone, list what there is");
    verb.footer(
        "Each table answers a question: ours and a baseline in turn in the same run, the median of their\n"
        "ratios, half the distance between the quartiles, and what was published where there is something.\n"
        "Options that are not listed here go to Google Benchmark.\n"
        "Example: tidemill bench hop\n"
        "         tidemill bench fec ldpc --benchmark_repetitions=9");
    verb.option("name", options->name, "What to measure: a topic, a room, waiting, forecast or auto");
    verb.option("filter", options->filter,
                "Only cases whose names match this regular expression; auto, forecast: begin so");
    verb.option("-o,--output", options->output, "Also write the JSON object to this file")
        .is(Kind::output_file);
    verb.option("--period-ms", options->waiting.period_ms, "waiting: what all periods are stretched to")
        .in(between(0.1, 10000.0));
    verb.option("--frames", options->waiting.frames, "waiting: frames of each pipeline")
        .in(between(10, 1000000));
    auto strategies_or_all = strategy_words();
    strategies_or_all.emplace_back("all", nullptr);
    verb.choice("--strategy", options->waiting.strategy, strategies_or_all, "waiting: of the schedules");
    verb.choice("--executor", options->forecast.executor,
                {{"pipeline", ExecutorKind::pipeline}, {"auto", ExecutorKind::automatic}},
                "forecast: whose forecasts");
    verb.option("--runs", options->forecast.runs, "forecast: of each, with a profile of its own")
        .in(between(2, 1000));
    verb.option("--packets", options->forecast.packets, "forecast: in the recording that is received")
        .in(between(1000, 10'000'000));
    verb.option("--rounds", options->autos.rounds, "auto: in each of which every way runs once")
        .in(between(2, 100));
    verb.option("--run-seconds", options->autos.seconds, "auto: of each run").in(between(0.05, 60.0));
    verb.option("--chains", options->autos.chains, "auto: random ones beside ten tasks and StreamIt")
        .in(between(0, 1000));
    verb.option("--device", options->device, "device: only this one, as tidemill topo names it");
    verb.flag("--paper", options->paper, "dvbs2: tables 3, 4 and 5 of the paper on StreamPU, ours beside");
    verb.flag("--json", options->waiting.json, "One JSON object on standard output");
    verb.keep_others(options->arguments);
    verb.does([options] { return run_bench(*options); });
}

}  // namespace tidemill::cli

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/cli/command.hpp"
#include "tidemill/cli/waiting_job.hpp"

namespace tidemill::cli {

namespace {

constexpr std::string_view kSuffix = "_bench";
constexpr const char* kHowToBuild =
    "build them with: cmake --preset release && cmake --build --preset release";

struct Options {
    std::string name;
    std::vector<std::string> arguments;
    WaitingOptions waiting;
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

int list(bool json) {
    const std::vector<std::string> rooms = built_benchmarks();
    if (json) {
        nlohmann::ordered_json names{"waiting"};
        for (const std::string& room : rooms) names.push_back(room);
        fmt::print("{}\n", nlohmann::ordered_json{{"benchmarks", names}}.dump(2));
        return kDone;
    }
    fmt::print("waiting     real pipelines of tasks that wait, beside their predicted periods (built in)\n");
    for (const std::string& room : rooms) {
        fmt::print("{:<10}  kernels and parts of the room {} (Google Benchmark)\n", room, room);
    }
    if (rooms.empty())
        fmt::print(stderr, "no room's benchmarks are built beside this program; {}\n", kHowToBuild);
    return kDone;
}

int run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_t child = 0;
    const int error = posix_spawn(&child, program.c_str(), nullptr, nullptr, pointers.data(), environ);
    if (error != 0) throw JobFailed(fmt::format("cannot run {}: {}", program.string(), std::strerror(error)));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? kDone : kJobFailed;
}

int run_bench(const Options& options) {
    if (options.name.empty()) return list(options.waiting.json);
    if (options.name == "waiting") {
        if (options.arguments.empty()) return run_waiting(options.waiting);
        throw WrongUsage(fmt::format("waiting does not know {}", options.arguments.front()));
    }
    const std::vector<std::string> rooms = built_benchmarks();
    if (std::ranges::find(rooms, options.name) == rooms.end()) {
        throw JobFailed(
            fmt::format("there is no {}{} beside this program; {}", options.name, kSuffix, kHowToBuild));
    }
    std::vector<std::string> arguments = options.arguments;
    if (options.waiting.json) arguments.emplace_back("--benchmark_format=json");
    return run_program(folder_of_program() / (options.name + std::string(kSuffix)), arguments);
}

}  // namespace

void add_bench(CLI::App& program, Command& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = program.add_subcommand(
        "bench", "Run a room's benchmarks, or pipelines of tasks that wait; alone, list them");
    verb->footer(
        "Further options go to the room's program.\n"
        "Example: tidemill bench schedule --benchmark_filter=herad");
    verb->add_option("name", options->name, "A room, or waiting");
    verb->add_option("--period-ms", options->waiting.period_ms, "waiting: what all periods are stretched to")
        ->check(CLI::Range(0.1, 10000.0))
        ->capture_default_str();
    verb->add_option("--frames", options->waiting.frames, "waiting: frames of each pipeline")
        ->check(CLI::Range(10, 1000000))
        ->capture_default_str();
    verb->add_option("--strategy", options->waiting.strategy, "waiting: a strategy, or all")
        ->capture_default_str();
    verb->add_flag("--json", options->waiting.json, "One JSON object on standard output");
    verb->allow_extras();
    verb->callback([options, verb, &chosen] {
        options->arguments = verb->remaining();
        chosen = [options] { return run_bench(*options); };
    });
}

}  // namespace tidemill::cli

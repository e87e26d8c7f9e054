#include "tidemill/lab/bench/bench_conditions.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/highway.h>
#include <sched.h>
#include <sys/utsname.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/lab/bench/child_program.hpp"
#include "tidemill/machine/affinity.hpp"
#include "tidemill/machine/topology.hpp"

namespace tidemill::cli {

namespace {

std::string first_line(const char* path) {
    std::string line;
    std::getline(std::ifstream(path) >> std::ws, line);
    return line;
}

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
    }
    return first_line("/sys/firmware/devicetree/base/model");
}

// Targets are bits, the best the lowest.
std::string instruction_set() {
    const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
    return hwy::TargetName(usable & -usable);
}

std::string scheduling() {
    sched_param parameters{};
    sched_getparam(0, &parameters);
    switch (sched_getscheduler(0)) {
        case SCHED_OTHER:
            return "normal";
        case SCHED_FIFO:
            return fmt::format("fifo {}", parameters.sched_priority);
        case SCHED_RR:
            return fmt::format("round robin {}", parameters.sched_priority);
        case SCHED_BATCH:
            return "batch";
        case SCHED_IDLE:
            return "idle";
        default:
            return "";
    }
}

std::string kernel() {
    utsname names{};
    return uname(&names) == 0 ? fmt::format("{} {}", names.sysname, names.release) : "";
}

double load() {
    double mean = 0;
    return getloadavg(&mean, 1) == 1 ? mean : 0;
}

// Where the program does not lie in a checkout, or git is not there, nothing is known.
std::string commit() try {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const Finished git =
        run_child("git", {"-C", folder.string(), "describe", "--always", "--dirty", "--abbrev=12"});
    return git.status == 0 ? git.output.substr(0, git.output.find('\n')) : "";
} catch (const JobFailed&) {
    return "";
}

std::string or_unknown(const std::string& text) {
    return text.empty() ? "unknown" : text;
}

}  // namespace

BenchConditions conditions_here() {
    const Topology topology = Topology::here();
    return {.processor = processor(),
            .cores = static_cast<int>(topology.cores.size()),
            .hardware_threads = static_cast<int>(topology.pus().size()),
            .instruction_set = instruction_set(),
            .frequency_governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            .kernel = kernel(),
            .scheduling = scheduling(),
            .allowed = fmt::format("{}", fmt::join(affinity_of_this_thread(), ",")),
            .load = load(),
            .commit = commit()};
}

std::string to_text(const BenchConditions& here) {
    return fmt::format(
        "{}, {} cores, {} hardware threads ({}), {}, governor {}, {}\nscheduling class {}, load {:.1f}, "
        "commit {}\n",
        or_unknown(here.processor), here.cores, here.hardware_threads, here.allowed, here.instruction_set,
        or_unknown(here.frequency_governor), or_unknown(here.kernel), or_unknown(here.scheduling), here.load,
        or_unknown(here.commit));
}

Json to_json(const BenchConditions& here) {
    const auto known = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    return {{"processor", known(here.processor)},
            {"cores", here.cores},
            {"hardware_threads", here.hardware_threads},
            {"instruction_set", here.instruction_set},
            {"frequency_governor", known(here.frequency_governor)},
            {"kernel", known(here.kernel)},
            {"scheduling", known(here.scheduling)},
            {"allowed", here.allowed},
            {"load", here.load},
            {"commit", known(here.commit)}};
}

}  // namespace tidemill::cli

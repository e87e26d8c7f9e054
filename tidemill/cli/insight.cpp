#include "tidemill/cli/insight.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/graph_file.hpp"

namespace tidemill::cli {

namespace {

// Makes the file, as the run will have to in the end.
void check_writable(const std::string& path) {
    if (path.empty()) return;
    const std::ofstream file(path, std::ios::app);
    if (!file) throw WrongUsage(fmt::format("cannot write to {}: {}", path, std::strerror(errno)));
}

}  // namespace

void add_insight_options(Verb& verb, InsightOptions& options) {
    verb.option("--trace", options.trace, "Write what every thread did, for ui.perfetto.dev")
        .is(Kind::output_file);
    verb.option("--graph", options.graph, "Draw the graph with its stages and times: FILE.svg or FILE.dot")
        .is(Kind::output_file);
    verb.option("--probe", options.probes, "Tell values, rate and latency of a socket, e.g. decoder.bits");
    verb.option("--print-frames", options.print_frames,
                "Print what is in the sockets of the first N frames of each task")
        .shows("");
    verb.option("--watchdog", options.watchdog_s,
                "Tell what every thread is doing when nothing moves for so many seconds")
        .is(Kind::seconds)
        .in(above(0))
        .shows("");
}

Insight::Insight(const InsightOptions& options, const Graph& graph) : options_(options), graph_(graph) {
    if (!options.graph.empty()) check_graph_file(options.graph);
    check_writable(options.trace);
    check_writable(options.graph);
    const auto tell = [](std::string_view text) { fmt::print(stderr, "{}", text); };
    if (!options.trace.empty()) trace_.emplace();
    if (!options.probes.empty()) probes_.emplace(graph);
    for (const std::string& socket : options.probes) probes_->add(socket);
    if (options.print_frames > 0) print_.emplace(tell, DebugLimits{.frames = options.print_frames});
    if (options.watchdog_s > 0) {
        const std::chrono::duration<double> patience(options.watchdog_s);
        watchdog_.emplace(graph, std::chrono::ceil<std::chrono::milliseconds>(patience), tell);
    }
}

void Insight::watch(RunOptions& run) {
    if (trace_) run.observers.push_back(&*trace_);
    if (probes_) run.observers.push_back(&*probes_);
    if (print_) run.observers.push_back(&*print_);
    if (watchdog_) run.observers.push_back(&*watchdog_);
}

void Insight::write(const std::optional<Schedule>& schedule, const RunReport& report) const {
    if (trace_) trace_->write(options_.trace);
    if (!options_.graph.empty()) write_graph_file(options_.graph, graph_, schedule, report);
    if (probes_) fmt::print(stderr, "{}", probes_->table());
}

}  // namespace tidemill::cli

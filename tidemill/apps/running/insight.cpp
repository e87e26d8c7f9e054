#include "tidemill/apps/running/insight.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/transport/byte_writer.hpp"
#include "tidemill/options/graph_file.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/runtime/graph/graph_error.hpp"

namespace tidemill::cli {

namespace {

// The sockets are known only once there is a graph.
void add_probe(Probes& probes, const std::string& socket) {
    try {
        probes.add(socket);
    } catch (const GraphError& error) {
        throw WrongUsage(fmt::format("--probe {}: {}", socket, error.what()));
    }
}

}  // namespace

void check_writable(const std::filesystem::path& path) {
    std::error_code unknown;                                              // is found by opening it
    if (path.empty() || std::filesystem::is_fifo(path, unknown)) return;  // a pipe would wait for its reader
    writing([&] { const io::ByteWriter file(path); });
}

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
        .in(between(0.001, 1e6))
        .shows("");
}

Insight::Insight(const InsightOptions& options, const Graph& graph) : options_(options), graph_(graph) {
    if (!options.graph.empty()) check_graph_file(options.graph);
    check_writable(options.trace);
    check_writable(options.graph);
    const auto say = [](std::string_view text) { tell(text); };
    if (!options.trace.empty()) trace_.emplace();
    if (!options.probes.empty()) probes_.emplace(graph);
    for (const std::string& socket : options.probes) add_probe(*probes_, socket);
    if (options.print_frames > 0) print_.emplace(say, DebugLimits{.frames = options.print_frames});
    if (options.watchdog_s > 0) {
        const std::chrono::duration<double> patience(options.watchdog_s);
        watchdog_.emplace(graph, std::chrono::ceil<std::chrono::milliseconds>(patience), say);
    }
}

void Insight::watch(RunOptions& run) {
    if (trace_) run.observers.push_back(&*trace_);
    if (probes_) run.observers.push_back(&*probes_);
    if (print_) run.observers.push_back(&*print_);
    if (watchdog_) run.observers.push_back(&*watchdog_);
}

void Insight::write(const std::optional<Schedule>& schedule, const RunReport& report) const {
    if (trace_) writing([&] { trace_->write(options_.trace); });
    if (!options_.graph.empty()) write_graph_file(options_.graph, graph_, schedule, report);
    if (probes_) tell(probes_->table());
}

}  // namespace tidemill::cli

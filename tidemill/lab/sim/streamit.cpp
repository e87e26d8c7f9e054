#include "tidemill/lab/sim/streamit.hpp"

#include <sstream>

#include <fmt/format.h>

#include "tidemill/lab/sim/published.hpp"

namespace tidemill {

namespace {

constexpr std::string_view kFolder = "streamit/";
constexpr std::string_view kEnding = ".txt";

void read_line(StreamGraph& graph, const std::string& line, double us_per_unit) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "kernel") {
        StreamTaskType type;
        words >> type.name >> type.firings >> type.stateful >> type.work_us;
        type.work_us *= us_per_unit;
        graph.types.push_back(std::move(type));
    } else if (what == "edge") {
        StreamEdge edge{};
        words >> edge.from >> edge.to >> edge.push >> edge.pop >> edge.peek >> edge.initial;
        graph.edges.push_back(edge);
    }
}

}  // namespace

std::vector<std::string_view> streamit_names() {
    std::vector<std::string_view> names;
    for (const PublishedText& each : published_texts()) {
        if (!each.name.starts_with(kFolder)) continue;
        names.push_back(each.name.substr(kFolder.size(), each.name.size() - kFolder.size() - kEnding.size()));
    }
    return names;
}

StreamGraph streamit_graph(std::string_view name, double us_per_unit) {
    StreamGraph graph{std::string(name), {}, {}};
    std::istringstream lines{std::string(published_text(fmt::format("{}{}{}", kFolder, name, kEnding)))};
    for (std::string line; std::getline(lines, line);) read_line(graph, line, us_per_unit);
    return graph;
}

StreamGraph one_firing_per_iteration(StreamGraph graph) {
    for (StreamEdge& edge : graph.edges) {
        const std::uint64_t looks_beyond = edge.peek - edge.pop;
        edge.push *= graph.types[edge.from].firings;
        edge.pop *= graph.types[edge.to].firings;
        edge.peek = edge.pop + looks_beyond;
    }
    for (StreamTaskType& type : graph.types) {
        type.work_us *= static_cast<double>(type.firings);
        type.firings = 1;
    }
    return graph;
}

StreamGraph all_stateful(StreamGraph graph) {
    for (StreamTaskType& type : graph.types) type.stateful = true;
    return graph;
}

}  // namespace tidemill

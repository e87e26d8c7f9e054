#include <fmt/format.h>

#include "tidemill/runtime/observe/internal/drawing.hpp"

namespace tidemill {

namespace {

using namespace internal;

// A quoted string of Graphviz: quotes and backslashes mean themselves, lines are centred.
std::string in_quotes(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        if (c == '"' || c == '\\') safe += '\\';
        safe += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return "\"" + safe + "\"";
}

std::string node(std::size_t index, const DrawnTask& task) {
    return fmt::format("t{} [label={}, fillcolor=\"{}\"{}];\n", index,
                       in_quotes(task.name + "\n" + caption_of(task)), colour_of(task.replication),
                       task.ends_segment ? ", peripheries=2" : "");
}

std::string edge(const DrawnLink& link) {
    std::string label;
    for (const std::string& sockets : link.sockets) label += (label.empty() ? "" : "\n") + sockets;
    return fmt::format("  t{} -> t{} [label={}{}{}];\n", link.from, link.to, in_quotes(label),
                       link.crosses_segments ? ", style=dashed" : "",
                       link.from >= link.to ? ", constraint=false" : "");
}

std::string nodes_of(const Drawing& drawing, std::size_t group, const std::string& indent) {
    std::string text;
    for (std::size_t t = 0; t < drawing.tasks.size(); ++t) {
        if (drawing.tasks[t].group == group) text += indent + node(t, drawing.tasks[t]);
    }
    return text;
}

}  // namespace

std::string to_dot(const Graph& graph, const DrawingOptions& options) {
    const Drawing drawing = drawing_of(graph, options);
    std::string text = "digraph " + in_quotes(drawing.name) + " {\n";
    text += "  rankdir=LR;\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
    text += "  edge [fontname=\"sans-serif\", fontsize=9];\n";
    for (std::size_t g = 0; g < drawing.groups.size(); ++g) {
        if (!options.schedule) {
            text += nodes_of(drawing, g, "  ");
            continue;
        }
        text +=
            fmt::format("  subgraph cluster_{} {{\n    label={};\n", g, in_quotes(drawing.groups[g].title));
        text += nodes_of(drawing, g, "    ") + "  }\n";
    }
    for (const DrawnLink& link : drawing.links) text += edge(link);
    return text + "}\n";
}

}  // namespace tidemill

#include "tidemill/options/graph_file.hpp"

#include <fstream>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/runtime/observe/drawing.hpp"

namespace tidemill::cli {

void check_graph_file(const std::string& path) {
    if (path.ends_with(".svg") || path.ends_with(".dot")) return;
    throw WrongUsage(fmt::format("{}: a drawing is written to a file that ends in .svg or .dot", path));
}

void write_graph_file(const std::string& path, const Graph& graph, const std::optional<Schedule>& schedule,
                      const RunReport& report) {
    const DrawingOptions shown{schedule ? &*schedule : nullptr, &report};
    std::ofstream file(path);
    file << (path.ends_with(".svg") ? to_svg(graph, shown) : to_dot(graph, shown));
    file.close();
    if (!file) throw JobFailed(fmt::format("cannot write the drawing to {}", path));
}

}  // namespace tidemill::cli

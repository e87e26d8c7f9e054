#include "tidemill/options/knob_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/options/number_list.hpp"
#include "tidemill/runtime/graph/knob_layout.hpp"

namespace tidemill::cli {

KnobSettings knob_settings(const std::vector<std::string>& texts, const Graph& graph) {
    KnobSettings settings;
    const KnobLayout layout = knob_layout_of(graph);
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos)
            throw WrongUsage(fmt::format("--set {}: give NAME=NUMBER, or several numbers with commas", text));
        try {
            const KnobLayout::Place& place = layout.named(text.substr(0, equals));
            const Module& module = graph.module(place.module);
            const auto numbers = number_list(text.substr(equals + 1), "--set " + place.name);
            settings.settings.push_back(
                {{&module, place.socket}, bytes_of_numbers(module, place.socket, numbers)});
        } catch (const GraphError& error) {
            throw WrongUsage(fmt::format("--set {}: {}", text, error.what()));
        }
    }
    return settings;
}

}  // namespace tidemill::cli

#include "tidemill/runtime/graph/knob_layout.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/runtime/graph/arena.hpp"

namespace tidemill {

const KnobLayout::Place& KnobLayout::named(std::string_view name) const {
    const auto found = std::ranges::find(places, name, &Place::name);
    if (found != places.end()) return *found;
    std::vector<std::string_view> known;
    for (const Place& place : places) known.push_back(place.name);
    throw GraphError(known.empty() ? fmt::format("no knob '{}': this graph has none", name)
                                   : fmt::format("no knob '{}': there are {}", name, fmt::join(known, ", ")));
}

const KnobLayout::Place& KnobLayout::of(const Graph& graph, SocketRef socket) const {
    if (!socket.module)
        throw GraphError("a knob that no module has declared: write Knob<float> gain = knob(\"gain\", 1.0f)");
    const std::size_t module = graph.index_of(*socket.module);
    const std::pair<std::size_t, std::size_t> wanted(module, socket.index);
    const auto key = [](const Place& place) {
        return std::pair<std::size_t, std::size_t>(place.module, place.socket);
    };
    const auto found = std::ranges::lower_bound(places, wanted, {}, key);
    if (found != places.end() && key(*found) == wanted) return *found;
    throw GraphError(
        fmt::format("{} is no knob: bind data to it", socket.module->path_of_socket(socket.index)));
}

// A vector begins on a cache line, so that kernels may load it as they do other data.
KnobLayout knob_layout_of(const Graph& graph) {
    KnobLayout layout;
    for (std::uint32_t m = 0; m < graph.module_count(); ++m) {
        const Module& module = graph.module(m);
        for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
            const SocketInfo& info = module.sockets()[s];
            if (!info.knob) continue;
            const std::size_t alignment = info.count > 1 ? kAlignment : sizeof(double);
            const std::size_t offset = (layout.bytes + alignment - 1) / alignment * alignment;
            layout.bytes = offset + info.bytes();
            layout.places.push_back({m, s, static_cast<std::uint32_t>(offset),
                                     static_cast<std::uint32_t>(info.bytes()), module.path_of_socket(s)});
        }
    }
    return layout;
}

}  // namespace tidemill

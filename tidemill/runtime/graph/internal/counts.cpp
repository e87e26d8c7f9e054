#include "tidemill/runtime/graph/internal/counts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace tidemill::internal {
namespace {

const SocketInfo& info_of(const SocketRef& socket) {
    return socket.module->sockets()[socket.index];
}

bool is_same(const SocketRef& a, const SocketRef& b) {
    return a.module == b.module && a.index == b.index;
}

// Those that a binding from frame to frame, or a declaration, gives the same count.
std::vector<SocketRef> neighbours(const Graph& graph, const SocketRef& socket) {
    std::vector<SocketRef> found;
    const SocketInfo& info = info_of(socket);
    const auto sockets = socket.module->sockets();
    for (std::uint32_t s = 0; s < sockets.size(); ++s)
        if (sockets[s].as == info.name || sockets[s].name == info.as) found.push_back({socket.module, s});
    const std::size_t module = graph.index_of(*socket.module);
    const Source* source = info.label.empty() ? graph.source_of(module, socket.index) : nullptr;
    if (source && source->module && !source->streams) found.push_back({source->module, source->socket});
    for (const SocketRef& input : graph.readers_of(module)) {
        const Source& bound = *graph.source_of(graph.index_of(*input.module), input.index);
        if (bound.socket == socket.index && info_of(input).label.empty()) found.push_back(input);
    }
    return found;
}

}  // namespace

std::vector<SocketRef> open_with(const Graph& graph, SocketRef socket) {
    std::vector<SocketRef> found{socket};
    std::set<std::pair<const Module*, std::uint32_t>> known{{socket.module, socket.index}};
    for (std::size_t next = 0; next < found.size(); ++next) {
        for (const SocketRef& other : neighbours(graph, found[next])) {
            if (info_of(other).count == 0 && known.insert({other.module, other.index}).second)
                found.push_back(other);
        }
    }
    return found;
}

// One sentence for all that wait for the same count.
std::vector<std::string> faults_of_counts(const Graph& graph) {
    std::vector<std::string> faults;
    std::vector<SocketRef> told;
    for (std::size_t m = 0; m < graph.module_count(); ++m) {
        const Module& module = graph.module(m);
        for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
            const auto is_this = [&](const SocketRef& known) { return is_same(known, {&module, s}); };
            if (module.sockets()[s].count > 0 || std::ranges::any_of(told, is_this)) continue;
            for (const SocketRef& each : open_with(graph, {&module, s})) told.push_back(each);
            faults.push_back(
                fmt::format("{} ({}): no bind() says how many elements; give one of the sockets that it is "
                            "bound to a count",
                            module.path_of_socket(s), module.sockets()[s].shape()));
        }
    }
    return faults;
}

}  // namespace tidemill::internal

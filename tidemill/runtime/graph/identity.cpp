#include "tidemill/runtime/graph/identity.hpp"

#include <cstdint>

#include "tidemill/runtime/graph/internal/fnv.hpp"

namespace tidemill {

namespace {

void add_module(const Module& module, internal::Fnv& fnv) {
    fnv.add(module.name());
    for (const SocketInfo& socket : module.sockets()) {
        fnv.add(socket.name);
        fnv.add(static_cast<std::uint64_t>(socket.direction));
        fnv.add(socket.type.name);
        fnv.add(socket.count);
        fnv.add((socket.knob ? 1 : 0) + (socket.varies ? 2 : 0));
    }
    for (const TaskInfo& task : module.tasks()) {
        fnv.add(task.name);
        fnv.add(task.ends_segment() ? 1 : 0);
    }
}

}  // namespace

std::string identity_of(const Graph& graph) {
    internal::Fnv fnv;
    for (std::size_t m = 0; m < graph.module_count(); ++m) {
        const Module& module = graph.module(m);
        add_module(module, fnv);
        for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
            const internal::Source* source = graph.source_of(m, s);
            if (!source || !source->module) continue;
            fnv.add(source->module->path_of_socket(source->socket));
            fnv.add(source->streams ? 1 : 0);
        }
    }
    return fnv.text();
}

}  // namespace tidemill

#include "tidemill/runtime/graph/internal/marks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill::internal {

namespace {

const OrderedTask& giver_of(const Graph& graph, const Source& source, const std::vector<OrderedTask>& order) {
    const TaskId id{static_cast<std::uint32_t>(graph.index_of(*source.module)),
                    source.module->sockets()[source.socket].task};
    return *std::ranges::find(order, id, &OrderedTask::id);
}

// The task that ends the segment in which the marks are given, if the reader is behind it.
const OrderedTask* end_between(const OrderedTask& giver, const OrderedTask& reader,
                               const std::vector<OrderedTask>& order) {
    const std::uint32_t given_in = giver.segment + (giver.ends_segment ? 1 : 0);
    if (given_in == reader.segment) return nullptr;
    return &*std::ranges::find_if(
        order, [&](const OrderedTask& task) { return task.ends_segment && task.segment == given_in; });
}

}  // namespace

Faults faults_of_marks(const Graph& graph, const std::vector<OrderedTask>& order) {
    Faults faults;
    for (const OrderedTask& reader : order) {
        const Module& module = graph.module(reader.id.module);
        for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
            const SocketInfo& socket = module.sockets()[s];
            const bool reads = socket.marked && socket.direction == Direction::forward;
            if (!reads || socket.task != reader.id.task) continue;
            const OrderedTask& giver = giver_of(graph, *graph.source_of(reader.id.module, s), order);
            const OrderedTask* const end = end_between(giver, reader, order);
            if (!end) continue;
            faults.push_back(
                fmt::format("{}: marks do not pass {}, behind which frames are others: let it read "
                            "them, and give those that lie on its own",
                            module.path_of_socket(s), end->name));
        }
    }
    return faults;
}

}  // namespace tidemill::internal

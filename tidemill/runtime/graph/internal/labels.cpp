#include "tidemill/runtime/graph/internal/labels.hpp"

#include <algorithm>
#include <set>

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill::internal {

namespace {

struct TaskOf {
    std::size_t module;
    std::uint32_t task;

    auto operator<=>(const TaskOf&) const = default;
};

template <class Visit>
void for_each_source(const Graph& graph, const TaskOf& task, Visit visit) {
    const auto sockets = graph.module(task.module).sockets();
    for (std::uint32_t s = 0; s < sockets.size(); ++s) {
        const SocketInfo& socket = sockets[s];
        const bool comes_in = socket.direction != Direction::out && !socket.late && socket.label.empty();
        if (socket.task != task.task || !comes_in) continue;
        const Source* source = graph.source_of(task.module, s);
        if (!source || !source->module) continue;
        visit(TaskOf{graph.index_of(*source->module), source->module->sockets()[source->socket].task});
    }
}

// All whose data come to a task, which is among them only in a circle.
std::set<TaskOf> tasks_before(const Graph& graph, const TaskOf& task) {
    std::set<TaskOf> before;
    std::vector<TaskOf> pending{task};
    while (!pending.empty()) {
        const TaskOf reader = pending.back();
        pending.pop_back();
        for_each_source(graph, reader, [&](const TaskOf& writer) {
            if (before.insert(writer).second) pending.push_back(writer);
        });
    }
    return before;
}

struct LabelOwner {
    TaskOf task;
    SocketRef socket;
};

}  // namespace

std::vector<SocketRef> nearest_labels(const Graph& graph, std::size_t module, std::uint32_t socket) {
    const SocketInfo& wanted = graph.module(module).sockets()[socket];
    std::vector<LabelOwner> owners;
    for (const TaskOf& task : tasks_before(graph, {module, wanted.task})) {
        const Module& giver = graph.module(task.module);
        for (std::uint32_t s = 0; s < giver.sockets().size(); ++s) {
            const SocketInfo& given = giver.sockets()[s];
            const bool gives = given.task == task.task && given.direction == Direction::out &&
                               given.label == wanted.label && given.type == wanted.type;
            if (gives) owners.push_back({task, {&giver, s}});
        }
    }
    std::set<TaskOf> farther;
    for (const LabelOwner& owner : owners) farther.merge(tasks_before(graph, owner.task));
    std::vector<SocketRef> nearest;
    for (const LabelOwner& owner : owners)
        if (!farther.contains(owner.task)) nearest.push_back(owner.socket);
    return nearest;
}

}  // namespace tidemill::internal

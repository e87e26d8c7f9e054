#include "tidemill/graph/bench.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tidemill {

namespace {

void check_promise(const Module& module, std::uint32_t task, Flow flow) {
    const TaskOptions& promised = module.tasks()[task].options;
    const bool in_order = promised.replication == Replication::sequential;
    const char* broken = flow == Flow::skip && !promised.may_skip      ? "skip; declare it with may_skip"
                         : flow == Flow::again && !promised.may_repeat ? "again; declare it with may_repeat"
                         : flow == Flow::stop && !in_order ? "stop; only sequential tasks may: say sequential"
                                                           : nullptr;
    if (broken) throw GraphError(fmt::format("{} returned {}", module.path_of_task(task), broken));
}

}  // namespace

ModuleBench::ModuleBench(std::unique_ptr<Graph> graph)
    : graph_(std::move(graph)),
      fed_(module().sockets().size()),
      frames_(module().tasks().size(), 0),
      stopping_(std::make_unique<std::atomic<bool>>(false)) {
    std::size_t bytes = 0;
    for (const SocketInfo& socket : module().sockets()) {
        places_.push_back({Base::scratch, static_cast<std::uint32_t>(bytes)});
        bytes += aligned(socket.bytes());
    }
    memory_ = Arena(bytes);
}

SocketRef ModuleBench::socket_of(std::string_view name, const ElementType& type) const {
    const SocketRef socket = module()[name];
    const ElementType& declared = module().sockets()[socket.index].type;
    if (declared == type) return socket;
    throw GraphError(fmt::format("{} carries {}, not {}", module().path_of_socket(socket.index),
                                 declared.name, type.name));
}

void ModuleBench::check_own(const Module* other) const {
    if (other == &module()) return;
    throw GraphError(
        fmt::format("this bench is for module '{}': use the sockets and tasks of b->, not of "
                    "another object",
                    module().name()));
}

ModuleBench& ModuleBench::feed_bytes(SocketRef socket, std::span<const std::byte> bytes) {
    check_own(socket.module);
    const SocketInfo& info = module().sockets()[socket.index];
    const std::string path = module().path_of_socket(socket.index);
    if (info.direction == Direction::out) throw GraphError(path + " is an output: it is read, not fed");
    if (bytes.size() > info.bytes()) {
        throw GraphError(fmt::format("{} values -> {} ({} x {}): too many", bytes.size() / info.type.size,
                                     path, info.type.name, info.count));
    }
    std::vector<std::byte>& values = fed_[socket.index].emplace(info.bytes());
    std::copy(bytes.begin(), bytes.end(), values.begin());
    return *this;
}

// Every step begins with what was fed, for a forward's task has changed its data in place, and with outputs
// of all ones (a NaN, a -1): in a run they hold what another frame left, which no task may count on.
void ModuleBench::fill_sockets(std::uint32_t task) {
    for (std::uint32_t s = 0; s < places_.size(); ++s) {
        const SocketInfo& socket = module().sockets()[s];
        if (socket.task != task) continue;
        if (socket.direction == Direction::out) {
            std::fill_n(memory_.data() + places_[s].offset, socket.bytes(), std::byte{0xff});
            continue;
        }
        if (!fed_[s]) {
            throw GraphError(fmt::format("{} was not fed: feed it before the step of {}",
                                         module().path_of_socket(s), module().path_of_task(task)));
        }
        std::copy(fed_[s]->begin(), fed_[s]->end(), memory_.data() + places_[s].offset);
    }
}

Flow ModuleBench::step(const Task& task) {
    check_own(task.module);
    const TaskInfo& info = module().tasks()[task.index];
    if (info.control != ControlKind::none) {
        throw GraphError(fmt::format("{} is carried out by executors: test it in a graph under Sequence",
                                     module().path_of_task(task.index)));
    }
    fill_sockets(task.index);
    FrameContext context;
    context.bases[static_cast<std::size_t>(Base::scratch)] = memory_.data();
    context.number = frames_[task.index];
    context.stopping = stopping_.get();
    const Flow flow = info.call(module(), info.code, Frame(context, places_.data()));
    check_promise(module(), task.index, flow);
    if (flow != Flow::again) ++frames_[task.index];
    return flow;
}

Flow ModuleBench::step() {
    if (module().tasks().size() == 1) return step(Task{&module(), 0});
    throw GraphError(fmt::format("module '{}' has {} tasks: say which one to step", module().name(),
                                 module().tasks().size()));
}

Flow ModuleBench::step(std::string_view task) {
    for (std::uint32_t t = 0; t < module().tasks().size(); ++t) {
        if (module().tasks()[t].name == task) return step(Task{&module(), t});
    }
    throw GraphError(fmt::format("module '{}' has no task '{}'", module().name(), task));
}

ModuleBench& ModuleBench::at_frame(std::uint64_t number) {
    std::fill(frames_.begin(), frames_.end(), number);
    return *this;
}

ModuleBench& ModuleBench::ask_to_stop() {
    stopping_->store(true, std::memory_order_relaxed);
    return *this;
}

}  // namespace tidemill

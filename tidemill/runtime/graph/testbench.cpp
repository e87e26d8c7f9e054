#include "tidemill/runtime/graph/testbench.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

#include <fmt/format.h>

#include "tidemill/runtime/graph/arena.hpp"
#include "tidemill/runtime/graph/stream_end.hpp"

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

struct ModuleTestbench::State final : internal::KnobTeller {
    explicit State(const Module& module)
        : addresses(module.sockets()), fed(module.sockets().size()), frames(module.tasks().size(), 0) {
        lay_out(module.sockets());
    }

    // Anew as soon as a count is known.
    void lay_out(std::span<const SocketInfo> sockets) {
        addresses = internal::AddressTable(sockets);
        std::size_t bytes = 0;
        for (std::size_t s = 0; s < sockets.size(); ++s) {
            addresses[s] = {internal::Base::scratch, static_cast<std::uint32_t>(bytes)};
            bytes += aligned(sockets[s].bytes());
            if (fed[s] || sockets[s].count == 0) continue;
            if (sockets[s].knob) fed[s] = sockets[s].knob->initial;
            if (!sockets[s].or_else.empty()) fed[s] = internal::default_of(sockets[s]);
        }
        memory = Arena(bytes);
    }

    void tell(const KnobSettings& settings, std::uint64_t frame, Tell when) override {
        for (const KnobSetting& each : settings.settings) {
            check_knob(*each.knob.module, each.knob.index, each.bytes);
            told.push_back({each, frame, when.after});
        }
    }

    internal::AddressTable addresses;
    Arena memory;
    std::vector<std::optional<std::vector<std::byte>>> fed;  // per socket
    std::vector<std::uint64_t> frames;                       // per task, the next one's number
    std::atomic<bool> stopping{false};
    std::vector<Told> told;
};

ModuleTestbench::ModuleTestbench(std::unique_ptr<Graph> graph)
    : graph_(std::move(graph)), state_(std::make_unique<State>(module())) {}

ModuleTestbench::ModuleTestbench(ModuleTestbench&&) noexcept = default;

ModuleTestbench::~ModuleTestbench() = default;

const std::byte* ModuleTestbench::data_of(SocketRef socket) const {
    return state_->memory.data() + state_->addresses[socket.index].offset;
}

SocketRef ModuleTestbench::socket_of(std::string_view name, const ElementType& type) const {
    const SocketRef socket = module()[name];
    const ElementType& declared = module().sockets()[socket.index].type;
    if (declared == type) return socket;
    throw GraphError(fmt::format("{} carries {}, not {}", module().path_of_socket(socket.index),
                                 declared.name, type.name));
}

void ModuleTestbench::check_own(const Module* other) const {
    if (other == &module()) return;
    throw GraphError(
        fmt::format("this testbench is for module '{}': use the sockets and tasks of b->, not of "
                    "another object",
                    module().name()));
}

ModuleTestbench& ModuleTestbench::set(const KnobSettings& settings) {
    for (const KnobSetting& each : settings.settings) {
        check_own(each.knob.module);
        check_knob(module(), each.knob.index, each.bytes);
        state_->fed[each.knob.index] = each.bytes;
    }
    return *this;
}

ModuleTestbench& ModuleTestbench::set_count(SocketRef socket, std::size_t count) {
    check_own(socket.module);
    const SocketInfo& info = module().sockets()[socket.index];
    if (info.count > 0) {
        if (info.count == count) return *this;
        throw GraphError(fmt::format("{} ({}) has its count: make another testbench for another one",
                                     module().path_of_socket(socket.index), info.shape()));
    }
    graph_->set_count(socket, module().narrow(count));
    state_->lay_out(module().sockets());
    return *this;
}

ModuleTestbench& ModuleTestbench::feed_bytes(SocketRef socket, std::span<const std::byte> bytes) {
    check_own(socket.module);
    const SocketInfo& info = module().sockets()[socket.index];
    const std::string path = module().path_of_socket(socket.index);
    if (info.knob) throw GraphError(path + " is a knob: it is set, not fed");
    if (info.direction == Direction::out) throw GraphError(path + " is an output: it is read, not fed");
    if (info.count == 0) set_count(socket, bytes.size() / info.type.size);
    if (bytes.size() > info.count * info.type.size) {
        throw GraphError(
            fmt::format("{} values -> {} ({}): too many", bytes.size() / info.type.size, path, info.shape()));
    }
    state_->fed[socket.index] = internal::block_of(info, bytes);
    return *this;
}

// Every step begins with what was fed, for a forward's task has changed its data in place, and with outputs
// of all ones (a NaN, a -1): in a run they hold what another frame left, which no task may count on.
void ModuleTestbench::fill_sockets(std::uint32_t task, bool ends) {
    for (std::uint32_t s = 0; s < module().sockets().size(); ++s) {
        const SocketInfo& socket = module().sockets()[s];
        if (socket.task != task && !socket.knob) continue;
        if (socket.count == 0) {
            throw GraphError(fmt::format("{} ({}): feed what says how many elements it has, or set_count()",
                                         module().path_of_socket(s), socket.shape()));
        }
        if (socket.direction == Direction::out) {
            std::byte* block = state_->memory.data() + state_->addresses[s].offset;
            std::fill_n(block, socket.bytes(), std::byte{0xff});
            if (socket.varies) std::fill_n(block, internal::kElementsAt, std::byte{0});
            continue;
        }
        if (ends) continue;
        if (!state_->fed[s]) {
            throw GraphError(fmt::format("{} was not fed: feed it before the step of {}",
                                         module().path_of_socket(s), module().path_of_task(task)));
        }
        std::copy(state_->fed[s]->begin(), state_->fed[s]->end(),
                  state_->memory.data() + state_->addresses[s].offset);
    }
}

Flow ModuleTestbench::step(const Task& task) {
    return run(task, /*ends=*/false);
}

Flow ModuleTestbench::step_at_end(const Task& task) {
    check_own(task.module);
    if (!module().tasks()[task.index].options.at_end) {
        throw GraphError(fmt::format("{} does not see the stream's end: declare it with at_end",
                                     module().path_of_task(task.index)));
    }
    return run(task, /*ends=*/true);
}

Flow ModuleTestbench::run(const Task& task, bool ends) {
    check_own(task.module);
    const TaskInfo& info = module().tasks()[task.index];
    if (info.control != internal::ControlKind::none) {
        throw GraphError(fmt::format("{} is carried out by executors: test it in a graph under Sequence",
                                     module().path_of_task(task.index)));
    }
    fill_sockets(task.index, ends);
    internal::FrameContext context;
    context.bases[static_cast<std::size_t>(internal::Base::scratch)] = state_->memory.data();
    context.number = state_->frames[task.index];
    context.stopping = &state_->stopping;
    context.at_end = ends;
    if (!ends) context.teller = &*state_;
    internal::AddressTable addresses = state_->addresses;
    if (ends) leave_out_inputs(module(), task.index, addresses);
    const Flow flow = info.call(module(), info.code, Frame(context, addresses.data()));
    if (!ends) check_promise(module(), task.index, flow);
    if (flow != Flow::again || ends) ++state_->frames[task.index];
    return flow;
}

Flow ModuleTestbench::step() {
    return step(only_task());
}

Flow ModuleTestbench::step_at_end() {
    return step_at_end(only_task());
}

Task ModuleTestbench::only_task() const {
    if (module().tasks().size() == 1) return Task{&module(), 0};
    throw GraphError(fmt::format("module '{}' has {} tasks: say which one to step", module().name(),
                                 module().tasks().size()));
}

Flow ModuleTestbench::step(std::string_view task) {
    for (std::uint32_t t = 0; t < module().tasks().size(); ++t) {
        if (module().tasks()[t].name == task) return step(Task{&module(), t});
    }
    throw GraphError(fmt::format("module '{}' has no task '{}'", module().name(), task));
}

const std::vector<ModuleTestbench::Told>& ModuleTestbench::told() const {
    return state_->told;
}

ModuleTestbench& ModuleTestbench::at_frame(std::uint64_t number) {
    std::fill(state_->frames.begin(), state_->frames.end(), number);
    return *this;
}

ModuleTestbench& ModuleTestbench::ask_to_stop() {
    state_->stopping.store(true, std::memory_order_relaxed);
    return *this;
}

}  // namespace tidemill

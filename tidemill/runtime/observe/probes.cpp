#include "tidemill/runtime/observe/probes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/observe/socket_text.hpp"
#include "tidemill/runtime/report/durations.hpp"

namespace tidemill {

namespace {

double seconds(std::uint64_t elapsed_ticks) {
    return to_ns(elapsed_ticks) / 1e9;
}

// The executor itself fills the outputs of switches and loops, by copying, when nobody looks.
void check_written_by_task(const Module& module, const SocketInfo& socket) {
    if (socket.direction == Direction::in ||
        module.tasks()[socket.task].control == internal::ControlKind::none)
        return;
    throw GraphError(fmt::format("{}.{} cannot be probed: probe what feeds it or what reads it",
                                 module.name(), socket.name));
}

}  // namespace

void ProbeReading::check_type(const ElementType& wanted) const {
    if (type == wanted) return;
    throw GraphError(
        fmt::format("{} carries {}, not {}: ask for values of that type", socket, type.name, wanted.name));
}

Probe::Probe(std::string socket, ElementType type, std::size_t bytes)
    : last_{.socket = std::move(socket), .type = std::move(type), .value = std::vector<std::byte>(bytes)},
      latencies_(std::make_unique<Durations>()) {}

Probe::~Probe() = default;

ProbeReading Probe::reading() const {
    const std::lock_guard lock(mutex_);
    ProbeReading reading = last_;
    reading.latency = report_of(*latencies_);
    return reading;
}

void Probe::begin_run() {
    const std::lock_guard lock(mutex_);
    run_began_ = ticks();
    last_.frames = 0;
    *latencies_ = {};
}

void Probe::pass(const ObservedCall& call, std::span<const std::byte> value) {
    const std::lock_guard lock(mutex_);
    if (last_.frames++ == 0) first_end_ = call.end;
    latencies_->add(call.end - call.born);
    // Replicas pass frames out of order: what is shown is the latest frame, not the last to come.
    if (last_.frames > 1 && call.frame.number() < last_.number) return;
    last_.number = call.frame.number();
    last_.time_s = seconds(call.end - run_began_);
    const double since_first_s = call.end > first_end_ ? seconds(call.end - first_end_) : 0;
    last_.rate_hz = since_first_s > 0 ? static_cast<double>(last_.frames - 1) / since_first_s : 0;
    last_.value.assign(value.begin(), value.end());
}

const Probe& Probes::add(std::string_view socket, std::size_t elements) {
    std::vector<std::string> known;
    for (std::size_t m = 0; m < graph_.module_count(); ++m) {
        const Module& module = graph_.module(m);
        for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
            known.push_back(module.path_of_socket(s));
            if (known.back() != socket) continue;
            const SocketInfo& info = module.sockets()[s];
            check_written_by_task(module, info);
            const std::size_t bytes = std::min(elements, info.count) * info.type.size;
            Probe& probe = probes_.emplace_back(known.back(), info.type, bytes);
            probed_.push_back({m, s, bytes, &probe});
            return probe;
        }
    }
    throw GraphError(fmt::format("no socket '{}' to probe; there are: {}", socket, fmt::join(known, ", ")));
}

void Probes::begin_run() {
    for (Probe& probe : probes_) probe.begin_run();
}

ThreadObserver& Probes::watch(const ObservedThread& thread) {
    return threads_.emplace_back(thread.plan, graph_, probed_);
}

std::string Probes::table() const {
    std::string table = fmt::format("{:<28}  {:>9}  {:>10}  {:>11}  {:>11}  {}\n", "socket", "frames",
                                    "rate Hz", "latency us", "p99 us", "value");
    for (const Probe& probe : probes_) {
        const ProbeReading reading = probe.reading();
        table += fmt::format("{:<28}  {:>9}  {:>10.5g}  {:>11.2f}  {:>11.2f}  {}\n", reading.socket,
                             reading.frames, reading.rate_hz, reading.latency.mean_us, reading.latency.p99_us,
                             text_of(reading.value, reading.type, 4));
    }
    return table;
}

Probes::Thread::Thread(const Plan& plan, const Graph& graph, const std::vector<Probed>& probed)
    : probed_(plan.steps.size()) {
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
        const TaskId task = plan.steps[step].task.id;
        std::copy_if(probed.begin(), probed.end(), std::back_inserter(probed_[step]),
                     [&](const Probed& each) {
                         return each.module == task.module &&
                                graph.module(each.module).sockets()[each.socket].task == task.task;
                     });
    }
}

void Probes::Thread::called(const ObservedCall& call) {
    const bool output_valid = call.flow == Flow::ok || call.flow == Flow::again;
    for (const Probed& each : probed_[call.step]) {
        if (!output_valid && call.module.sockets()[each.socket].direction != Direction::in) continue;
        const std::span<const std::byte> bytes = bytes_of(call.frame, call.module, each.socket);
        if (bytes.data()) each.probe->pass(call, bytes.first(std::min(each.bytes, bytes.size())));
    }
}

}  // namespace tidemill

#include "bindings/graph_binding.hpp"

#include <utility>

#include "bindings/element.hpp"
#include "bindings/frame_names.hpp"
#include "bindings/numpy.hpp"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/observe/drawing.hpp"

namespace tidemill::python {

namespace {

using nb::literals::operator""_a;

using SocketAsTuple = std::tuple<std::string, Direction, int, std::vector<npy_intp>, std::string>;
using KnobAsTuple = std::tuple<std::string, double, double, double>;

std::vector<PythonSocket> sockets_of(const std::vector<SocketAsTuple>& tuples) {
    std::vector<PythonSocket> sockets;
    for (const auto& [name, direction, type, shape, label] : tuples)
        sockets.push_back({name, direction, type, shape, label});
    return sockets;
}

std::vector<PythonKnob> knobs_of(const std::vector<KnobAsTuple>& tuples) {
    std::vector<PythonKnob> knobs;
    for (const auto& [name, initial, least, most] : tuples) knobs.push_back({name, initial, {least, most}});
    return knobs;
}

// Names, elements and counts, as messages have them.
std::vector<std::tuple<std::string, Direction, std::string, std::size_t>> describe(const PythonGraph& graph,
                                                                                   std::size_t module) {
    std::vector<std::tuple<std::string, Direction, std::string, std::size_t>> sockets;
    for (const SocketInfo& info : graph.graph().module(module).sockets())
        sockets.emplace_back(info.name, info.direction, info.type.name, info.count);
    return sockets;
}

void bind_words(nb::module_& module) {
    nb::enum_<Flow>(module, "Flow", "What a task says of the frame that it was called with.")
        .value("OK", Flow::ok, "The frame goes on.")
        .value("SKIP", Flow::skip, "The frame ends here; needs may_skip.")
        .value("AGAIN", Flow::again, "The frame goes on, and there is more output first; needs may_repeat.")
        .value("STOP", Flow::stop, "The stream ends before this frame.");
    nb::enum_<Direction>(module, "Direction", "Which way data flows through a socket.")
        .value("IN", Direction::in)
        .value("OUT", Direction::out)
        .value("FORWARD", Direction::forward);
    nb::enum_<CallForm>(module, "CallForm", "What stands behind a task.")
        .value("FUNCTION", CallForm::function)
        .value("GENERATOR", CallForm::generator)
        .value("ITEMS", CallForm::items);
}

}  // namespace

std::vector<std::string> unit_names(const Graph& graph) {
    std::vector<std::string> names;
    for (const ScheduledUnit& unit : structure_of(graph).units) names.push_back(unit.name);
    return names;
}

std::size_t PythonGraph::add(std::string name, const std::vector<PythonSocket>& sockets,
                             const std::vector<PythonKnob>& knobs, TaskOptions options, PythonCall call) {
    tasks_.push_back(
        &graph_to_change().add<PythonTask>(std::move(name), sockets, knobs, options, std::move(call)));
    return graph_.module_count() - 1;
}

void PythonGraph::bind_constant(nb::handle data, std::size_t module, const std::string& name) {
    const SocketRef input = socket(module, name);
    const SocketInfo& info = input.module->sockets()[input.index];
    auto* const array = reinterpret_cast<PyArrayObject*>(data.ptr());
    with_element(PyArray_TYPE(array), [&]<class T>() {
        if (info.type != element_type<T>())
            throw GraphError(input.module->path_of_socket(input.index) + " carries " + info.type.name +
                             ": give a constant of that type");
        const auto* const values = static_cast<const T*>(PyArray_DATA(array));
        graph_to_change().bind(std::vector<T>(values, values + PyArray_SIZE(array)),
                               In<T>{input.module, input.index, static_cast<std::uint32_t>(info.count)});
    });
}

// Its executor's threads read what a change would move.
Graph& PythonGraph::graph_to_change() {
    if (is_running_)
        throw GraphError("graph '" + graph_.name() +
                         "' is being run: change it before, or when the run has ended");
    return graph_;
}

void PythonGraph::interrupt_tasks() {
    for (PythonTask* task : tasks_) task->interrupt();
}

PythonGraph::Running::Running(PythonGraph& graph) : graph_(graph) {
    const nb::ft_object_guard alone(nb::find(graph));
    if (graph.is_running_)
        throw GraphError("graph '" + graph.graph().name() + "' is being run: one executor at a time");
    graph.is_running_ = true;
}

PythonGraph::Running::~Running() {
    const nb::ft_object_guard alone(nb::find(graph_));
    for (PythonTask* task : graph_.tasks_) task->forget_views();
    graph_.is_running_ = false;
}

void bind_graph(nb::module_& module) {
    bind_words(module);
    module.attr("lends_arrays") = kLendsArrays;
    module.def("names_in_tracebacks", &names_in_tracebacks, "array"_a);
    nb::class_<PythonGraph>(module, "Graph", nb::is_weak_referenceable())
        .def(nb::init<std::string>(), "name"_a)
        .def_prop_ro("name", [](const PythonGraph& self) { return self.graph().name(); })
        .def(
            "add",
            [](PythonGraph& self, std::string name, const std::vector<SocketAsTuple>& sockets,
               const std::vector<KnobAsTuple>& knobs, nb::object callable, CallForm form, bool takes_number,
               bool gets_copies, bool pure, bool may_skip, bool may_repeat, bool may_wait, bool at_end) {
                const TaskOptions options{.replication = pure ? Replication::pure : Replication::sequential,
                                          .may_skip = may_skip,
                                          .may_repeat = may_repeat,
                                          .may_wait = may_wait,
                                          .at_end = at_end};
                return self.add(std::move(name), sockets_of(sockets), knobs_of(knobs), options,
                                {std::move(callable), form, takes_number, gets_copies});
            },
            "name"_a, "sockets"_a, "knobs"_a, "callable"_a, "form"_a, nb::kw_only(), "takes_number"_a,
            "gets_copies"_a, "pure"_a, "may_skip"_a, "may_repeat"_a, "may_wait"_a, "at_end"_a,
            nb::lock_self())
        .def(
            "module_name",
            [](const PythonGraph& self, std::size_t m) { return self.graph().module(m).name(); }, "module"_a,
            nb::lock_self())
        .def("sockets", &describe, "module"_a, nb::lock_self())
        .def(
            "units", [](const PythonGraph& self) { return unit_names(self.graph()); },
            "The chain that schedulers see.", nb::lock_self())
        .def(
            "bind",
            [](PythonGraph& self, std::size_t from, const std::string& output, std::size_t to,
               const std::string& input) {
                self.graph_to_change().bind(self.socket(from, output), self.socket(to, input));
            },
            "module"_a, "output"_a, "to_module"_a, "input"_a, nb::lock_self())
        .def(
            "stream",
            [](PythonGraph& self, std::size_t from, const std::string& output, std::size_t to,
               const std::string& input) {
                self.graph_to_change().stream(self.socket(from, output), self.socket(to, input));
            },
            "module"_a, "output"_a, "to_module"_a, "input"_a, nb::lock_self())
        .def("bind_constant", &PythonGraph::bind_constant, "data"_a, "module"_a, "input"_a, nb::lock_self())
        .def(
            "chain",
            [](PythonGraph& self, std::size_t from, std::size_t to) {
                self.graph_to_change().chain(self.graph().module(from), self.graph().module(to));
            },
            "module"_a, "to_module"_a, nb::lock_self())
        .def(
            "to_svg",
            [](const PythonGraph& self, const Schedule* schedule) {
                return to_svg(self.graph(), {.schedule = schedule});
            },
            nb::arg("schedule").none() = nb::none(), "A drawing of tasks and bindings.", nb::lock_self());
}

}  // namespace tidemill::python

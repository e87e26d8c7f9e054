// The functions and classes that the package tidemill is made of.

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bindings/dvbs2_binding.hpp"
#include "bindings/errors.hpp"
#include "bindings/executors.hpp"
#include "bindings/graph_binding.hpp"
#include "bindings/interpreter.hpp"
#include "bindings/numpy.hpp"
#include "bindings/python_policy.hpp"
#include "bindings/recording_binding.hpp"
#include "bindings/schedule_binding.hpp"
#include "bindings/transceiver_binding.hpp"
#include <nanobind/stl/vector.h>

#include "tidemill/machine/describe.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/tuning/profile/platform_here.hpp"

namespace {

namespace nb = tidemill::python::nb;

std::mutex warnings_mutex;
std::vector<std::string> warnings;

// Messages of the program for its user become Python's warnings; the rest is in reports.
void take_message(std::string_view text) noexcept {
    constexpr std::string_view kWarning = "warning: ";
    if (!text.starts_with(kWarning)) return;
    text.remove_prefix(kWarning.size());
    const std::lock_guard lock(warnings_mutex);
    warnings.emplace_back(text.substr(0, text.find('\n')));
}

std::vector<std::string> take_warnings() {
    const std::lock_guard lock(warnings_mutex);
    return std::exchange(warnings, {});
}

}  // namespace

NB_MODULE(_core, module) {
    module.doc() = "What the package tidemill is made of; import that.";
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)  // its threads would find the main one
        throw nb::import_error("the library of tidemill does not work in a subinterpreter");
    nb::set_leak_warnings(false);   // a graph may hold tasks that hold the graph
    static bool is_loaded = false;  // its types are the process's, and there for as long as it is
    if (is_loaded)
        throw nb::import_error("the library of tidemill cannot be loaded more than once per process");
    tidemill::python::fetch_numpy();
    is_loaded = true;
    tidemill::cli::hand_messages_to(take_message);
    tidemill::python::bind_errors(module);
    tidemill::python::bind_schedules(module);
    tidemill::python::bind_graph(module);
    tidemill::python::bind_executors(module);
    tidemill::python::bind_dvbs2(module);
    tidemill::python::bind_transceiver(module);
    tidemill::python::bind_recordings(module);
    tidemill::python::bind_policies(module);
    module.def("end_live_runs", &tidemill::python::end_live_runs);
    module.def("take_warnings", &take_warnings);
    module.def(
        "cores_here", [] { return to_string(tidemill::platform_here()); }, "The cores of this machine.");
    module.attr("version") = TIDEMILL_VERSION;
}

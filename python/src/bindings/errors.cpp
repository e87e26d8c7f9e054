#include "bindings/errors.hpp"

#include <new>
#include <stdexcept>
#include <utility>

#include "bindings/python_error.hpp"
#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json_error.hpp"
#include "tidemill/dsp/dsp_error.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/fec/fec_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/machine/platform_error.hpp"
#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/scheduling/dynamic/policy_error.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"
#include "tidemill/scheduling/unequal/bridge_error.hpp"

namespace tidemill::python {

namespace {

constexpr const char* kNoRoom = "there is not that much memory: ask for less";

PyObject* run_error_type = nullptr;
PyObject* frame_error_type = nullptr;

// None where it was not raised in Python.
nb::object raised_in_python(const std::exception_ptr& raised) {
    try {
        if (raised) std::rethrow_exception(raised);
    } catch (const PythonError& error) {
        return error.exception();
    } catch (...) {
    }
    return nb::none();
}

void raise(PyObject* type, const nb::object& told, nb::object cause) {
    if (!cause.is_none()) PyException_SetCause(told.ptr(), cause.release().ptr());
    PyErr_SetObject(type, told.ptr());
}

// The exception that a task raised is the cause, with its traceback; one that asks for an end is raised
// itself.
void raise_frame_error(const FrameError& error) {
    nb::object cause = raised_in_python(error.cause());
    if (!cause.is_none() && PythonError(cause).is_wish()) {
        PyErr_SetObject(cause.type().ptr(), cause.ptr());
        return;
    }
    const nb::object told = nb::borrow(frame_error_type)(error.what());
    told.attr("task") = error.task();
    told.attr("stage") = error.stage();
    told.attr("replica") = error.replica();
    told.attr("frame") = error.frame();
    raise(frame_error_type, told, std::move(cause));
}

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const FrameError& error) {
        raise_frame_error(error);
    } catch (const PythonError& error) {
        const nb::object exception = error.exception();
        PyErr_SetObject(exception.type().ptr(), exception.ptr());
    } catch (const std::bad_alloc&) {
        PyErr_SetString(PyExc_MemoryError, kNoRoom);
    } catch (const std::length_error&) {
        PyErr_SetString(PyExc_MemoryError, kNoRoom);
    }
}

template <class E>
nb::object new_error(nb::module_& module, const char* name, const nb::object& base, const char* about) {
    const std::string path = fmt::format("{}.{}", nb::cast<std::string>(module.attr("__name__")), name);
    const nb::object type = nb::steal(PyErr_NewExceptionWithDoc(path.c_str(), about, base.ptr(), nullptr));
    if (!type.is_valid()) nb::raise_python_error();
    module.attr(name) = type;
    raise_as<E>(type);
    return type;
}

}  // namespace

void end_forked_process(const std::string& task, const std::exception_ptr& raised) {
    const nb::object told = nb::borrow(run_error_type)(fmt::format(
        "task {} has forked, and its child came back from the call, where no thread is left to go "
        "on: end a child with os._exit(), as multiprocessing does",
        task));
    raise(run_error_type, told, raised_in_python(raised));
    PyErr_PrintEx(0);
    _exit(1);
}

void bind_errors(nb::module_& module) {
    const nb::object base =
        new_error<Error>(module, "Error", nb::borrow(PyExc_RuntimeError),
                         "What the package raises: each kind of it has a class of its own below.");
    new_error<GraphError>(module, "GraphError", base,
                          "A task, a socket or a graph that cannot be, with every fault.");
    new_error<ScheduleError>(module, "ScheduleError", base,
                             "A profile, cores or a schedule that cannot be used.");
    new_error<policy::PolicyError>(module, "PolicyError", base,
                                   "A policy, or a program of tasks, that there is not.");
    new_error<PlatformError>(module, "PlatformError", base,
                             "Cores or threads that this machine does not have.");
    new_error<bridge::BridgeError>(module, "BridgeError", base,
                                   "Emulated kinds of cores that cannot be used.");
    new_error<JsonError>(module, "JsonError", base,
                         "A text that is no JSON, or not what was expected there.");
    new_error<io::IoError>(module, "IoError", base,
                           "A file that cannot be used: which, why, and what to do about it.");
    new_error<dsp::DspError>(module, "DspError", base,
                             "A size or a setting with which a kernel cannot work.");
    new_error<fec::FecError>(module, "FecError", base, "A code or a setting that does not exist.");
    new_error<dvbs2::Dvbs2Error>(module, "Dvbs2Error", base,
                                 "Settings with which nothing can be sent or received.");
    new_error<cli::JobFailed>(module, "JobFailed", base,
                              "The job was understood and failed: no signal, a full disk.");
    new_error<cli::WrongUsage>(module, "WrongUsage", base, "What is asked for cannot be.");
    const nb::object run_error =
        new_error<RunError>(module, "RunError", base, "A run that cannot be what it is asked to be.");
    const nb::object frame_error =
        new_error<FrameError>(module, "FrameError", run_error,
                              "A task raised: `task` is which one, `stage` and `replica` (counted from 0) "
                              "are where, and `frame` is on which; what it raised is the cause.");
    frame_error.attr("task") = "";
    for (const char* place : {"stage", "replica", "frame"}) frame_error.attr(place) = 0;
    run_error_type = run_error.ptr();
    frame_error_type = frame_error.ptr();
    nb::register_exception_translator(translate);  // asked before those above
}

}  // namespace tidemill::python

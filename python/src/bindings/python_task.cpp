#include "bindings/python_task.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bindings/element.hpp"
#include "bindings/errors.hpp"
#include "bindings/frame_names.hpp"
#include "bindings/interpreter.hpp"
#include "bindings/python_error.hpp"
#include <fmt/format.h>

#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill::python {

namespace {

std::size_t elements_of(const PythonSocket& socket) {
    std::size_t count = 1;
    for (const npy_intp length : socket.shape) count *= static_cast<std::size_t>(length);
    return count;
}

nb::object checked(PyObject* object) {
    if (!object) throw PythonError::raised();
    return nb::steal(object);
}

}  // namespace

PythonTask::PythonTask(std::string name, const std::vector<PythonSocket>& sockets,
                       const std::vector<PythonKnob>& knobs, TaskOptions options, PythonCall call)
    : Module(name),
      sockets_(sockets),
      call_(std::move(call)),
      is_shared_(options.replication == Replication::pure) {
    call_.gets_copies |= !kLendsArrays;
    for (const PythonSocket& socket : sockets_) {
        const std::uint32_t index = declare(socket);
        places_.push_back({index, socket.direction == Direction::in});
    }
    for (const PythonKnob& each : knobs) knobs_.push_back(knob(each.name, each.initial, each.range));
    declare_task(std::move(name), &PythonTask::run, options, Basis::word);
}

std::uint32_t PythonTask::declare(const PythonSocket& socket) {
    return with_element(socket.numpy_type, [&]<class T>() { return declare_of<T>(socket); });
}

template <class T>
std::uint32_t PythonTask::declare_of(const PythonSocket& socket) {
    const std::size_t count = elements_of(socket);
    const bool reads = socket.direction == Direction::in;
    if (!socket.label.empty() && reads) return label<const T>(socket.label, socket.name).index;
    if (!socket.label.empty()) return label<T>(socket.label, socket.name).index;
    if (reads) return in<T>(socket.name, count).index;
    if (socket.direction == Direction::out) return out<T>(socket.name, count).index;
    return forward<T>(socket.name, count).index;
}

PythonTask::Caller& PythonTask::caller_here() {
    const std::thread::id here = is_shared_ ? std::this_thread::get_id() : std::thread::id();
    const auto found = std::ranges::find(callers_, here, &Caller::thread);
    if (found != callers_.end()) return *found;
    Caller& caller = callers_.emplace_back(Caller{.thread = here});
    for (const PythonSocket& socket : sockets_)
        caller.views.emplace_back(socket.numpy_type, socket.shape, socket.direction == Direction::in);
    caller.arguments.resize(1 + sockets_.size() + knobs_.size() + (call_.takes_number ? 1 : 0));
    return caller;
}

// Null for an input that has no data on this frame.
std::byte* PythonTask::place_of(Frame frame, const Place& socket) const {
    const In<std::byte> bytes{this, socket.index, 1};  // from there on
    return const_cast<std::byte*>(frame[bytes].data());
}

PythonTask::Caller& PythonTask::enter() {
    const nb::ft_lock_guard lock(callers_mutex_);
    Caller& caller = caller_here();
    caller.in_call = PyThread_get_thread_ident();
    return caller;
}

// An interrupt that comes when the function has returned is taken back: it would hit the thread's next call.
void PythonTask::leave(Caller& caller) {
    const nb::ft_lock_guard lock(callers_mutex_);
    if (std::exchange(caller.is_interrupted, false)) PyThreadState_SetAsyncExc(caller.in_call, nullptr);
    caller.in_call = 0;
}

class PythonTask::InCall {
  public:
    explicit InCall(PythonTask& task) : task_(task), caller_(task.enter()) {}
    ~InCall() { task_.leave(caller_); }
    InCall(const InCall&) = delete;
    InCall& operator=(const InCall&) = delete;

    Caller& caller() { return caller_; }

  private:
    PythonTask& task_;
    Caller& caller_;
};

Flow PythonTask::run(Frame frame) {
    const InterpreterLock lock;
    if (!lock.is_held()) throw RunError("Python's interpreter has ended");
    const ProcessOfThreads process;
    InCall in_call(*this);
    std::exception_ptr raised;
    try {
        const Flow flow = call(frame, in_call.caller());
        if (!process.is_other()) return flow;
    } catch (const nb::python_error& error) {
        raised = std::make_exception_ptr(PythonError(error));
    } catch (const std::exception&) {  // not all: the interpreter's end may unwind threads
        raised = std::current_exception();
    }
    if (process.is_other()) end_forked_process(name(), raised);
    std::rethrow_exception(raised);
}

void PythonTask::interrupt() {
    const nb::ft_lock_guard lock(callers_mutex_);
    for (Caller& caller : callers_)
        if (caller.in_call != 0)
            caller.is_interrupted = PyThreadState_SetAsyncExc(caller.in_call, PyExc_KeyboardInterrupt) != 0;
}

Flow PythonTask::call(Frame frame, Caller& caller) {
    call_.gets_copies ? lend_copies(frame, caller) : lend_arrays(frame, caller);
    const Flow flow = call_.form == CallForm::function    ? call_function(frame, caller)
                      : call_.form == CallForm::generator ? send_arrays(caller)
                                                          : write_item(caller);
    call_.gets_copies ? bring_back(frame, caller) : check_nothing_kept(caller);
    return flow;
}

void PythonTask::lend_arrays(Frame frame, Caller& caller) {
    for (std::size_t s = 0; s < places_.size(); ++s) {
        std::byte* const place = place_of(frame, places_[s]);
        caller.arguments[1 + s] = place ? caller.views[s].at(place) : caller.views[s].empty();
    }
}

void PythonTask::lend_copies(Frame frame, Caller& caller) {
    caller.copies.clear();
    for (std::size_t s = 0; s < places_.size(); ++s) {
        std::byte* const place = place_of(frame, places_[s]);
        caller.copies.push_back(place ? caller.views[s].copy_of(place) : nb::borrow(caller.views[s].empty()));
        caller.arguments[1 + s] = caller.copies.back().ptr();
    }
}

void PythonTask::bring_back(Frame frame, Caller& caller) const {
    for (std::size_t s = 0; s < places_.size(); ++s) {
        if (places_[s].is_input) continue;
        auto* const array = reinterpret_cast<PyArrayObject*>(caller.copies[s].ptr());
        const auto bytes = static_cast<std::size_t>(PyArray_NBYTES(array));
        if (bytes != caller.views[s].bytes())
            throw RunError(
                fmt::format("it resized the array of {}, which has a place of fixed size: give its "
                            "socket another shape",
                            path_of_socket(places_[s].index)));
        std::memcpy(place_of(frame, places_[s]), PyArray_DATA(array), bytes);
    }
    caller.copies.clear();
}

void PythonTask::give_numbers(Frame frame, Caller& caller) const {
    caller.numbers.clear();
    for (const Knob<double>& each : knobs_)
        caller.numbers.push_back(checked(PyFloat_FromDouble(frame[each])));
    if (call_.takes_number) caller.numbers.push_back(checked(PyLong_FromUnsignedLongLong(frame.number())));
    auto argument = caller.arguments.begin() + 1 + static_cast<std::ptrdiff_t>(places_.size());
    for (const nb::object& number : caller.numbers) *argument++ = number.ptr();
}

Flow PythonTask::call_function(Frame frame, Caller& caller) {
    give_numbers(frame, caller);
    PyObject* const* const arguments = caller.arguments.data() + 1;
    const std::size_t count = caller.arguments.size() - 1;
    return flow_of(checked(PyObject_Vectorcall(call_.callable.ptr(), arguments,
                                               count | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr)),
                   caller);
}

// A generator that returns ends the stream.
Flow PythonTask::send_arrays(const Caller& caller) {
    nb::object sent = nb::borrow(caller.arguments[1]);
    if (places_.size() > 1) {
        sent = checked(PyTuple_New(static_cast<Py_ssize_t>(places_.size())));
        for (std::size_t s = 0; s < places_.size(); ++s)
            PyTuple_SetItem(sent.ptr(), static_cast<Py_ssize_t>(s),
                            nb::borrow(caller.arguments[1 + s]).release().ptr());
    }
    PyObject* result = nullptr;
    const PySendResult how = PyIter_Send(call_.callable.ptr(), sent.ptr(), &result);
    sent.reset();
    nb::object given = checked(result);
    return how == PYGEN_RETURN ? Flow::stop : flow_of(std::move(given), caller);
}

Flow PythonTask::write_item(const Caller& caller) {
    const nb::object item = nb::steal(PyIter_Next(call_.callable.ptr()));
    if (!item.is_valid() && PyErr_Occurred()) throw PythonError::raised();
    if (!item.is_valid()) return Flow::stop;
    const auto write = [](PyObject* array, PyObject* value) {
        if (PyArray_CopyObject(reinterpret_cast<PyArrayObject*>(array), value) < 0)
            throw PythonError::raised();
    };
    if (places_.size() == 1) {
        write(caller.arguments[1], item.ptr());
        return Flow::ok;
    }
    const nb::object values = checked(PySequence_Tuple(item.ptr()));
    if (PyTuple_Size(values.ptr()) != static_cast<Py_ssize_t>(places_.size())) {
        throw RunError(
            fmt::format("its iterator gave {} values for {} outputs: give a tuple with one for each",
                        PyTuple_Size(values.ptr()), places_.size()));
    }
    for (std::size_t s = 0; s < places_.size(); ++s)
        write(caller.arguments[1 + s], PyTuple_GetItem(values.ptr(), static_cast<Py_ssize_t>(s)));
    return Flow::ok;
}

Flow PythonTask::flow_of(nb::object result, const Caller& caller) const {
    if (result.is_none()) return Flow::ok;
    const auto* const arrays = caller.arguments.data() + 1;
    if (std::find(arrays, arrays + places_.size(), result.ptr()) != arrays + places_.size()) return Flow::ok;
    if (nb::isinstance<Flow>(result)) return nb::cast<Flow>(result);  // a number would be cast, too
    throw RunError(fmt::format(
        "it returned a {}: return nothing, a tidemill.Flow, or one of the arrays it was given; results go "
        "into the arrays of its outputs",
        nb::cast<std::string>(result.type().attr("__name__"))));
}

// References beyond ours. What a generator's variables name at its yield is going to be overwritten there.
std::size_t PythonTask::kept(PyObject* array) const {
    const auto others = static_cast<std::size_t>(Py_REFCNT(array) - 1);
    if (others == 0 || call_.form != CallForm::generator) return others;
    return others - std::min(others, names_in_generator(call_.callable, array));
}

void PythonTask::check_nothing_kept(Caller& caller) const {
    for (std::size_t s = 0; s < places_.size(); ++s) {
        PyObject* const array = caller.arguments[1 + s];
        if (!SocketViews::is_kept(array) || kept(array) == 0) continue;
        nb::module_::import_("gc").attr("collect")();  // a cycle is no fault
        if (kept(array) == 0) continue;
        const std::size_t in_tracebacks = names_in_tracebacks(array);  // neither is an exception
        if (kept(array) > in_tracebacks) throw_kept(s);
        caller.views[s].give_away(array);
    }
}

void PythonTask::throw_kept(std::size_t socket) const {
    throw RunError(
        fmt::format("it kept the array of {} beyond the call, where the next frame comes: keep a copy "
                    "({}.copy()), or say keep=\"copy\"",
                    path_of_socket(places_[socket].index), sockets_[socket].name));
}

}  // namespace tidemill::python

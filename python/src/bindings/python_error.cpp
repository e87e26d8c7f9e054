#include "bindings/python_error.hpp"

#include "bindings/interpreter.hpp"
#include <fmt/format.h>

namespace tidemill::python {

namespace {

std::string sentence_of(const nb::object& exception) {
    const std::string type = nb::cast<std::string>(exception.type().attr("__name__"));
    try {  // half of a surrogate pair is no text
        const nb::bytes encoded(nb::str(exception).attr("encode")("utf-8", "backslashreplace"));
        return encoded.size() == 0 ? type : fmt::format("{}: {}", type, encoded.c_str());
    } catch (nb::python_error&) {
        return type;
    }
}

// Ends its reference under the lock, wherever the last one is.
void drop(PyObject* object) {
    if (!object) return;
    const InterpreterLock lock;
    if (lock.is_held()) Py_DECREF(object);
}

}  // namespace

PythonError PythonError::raised() {
    return PythonError(nb::python_error());
}

PythonError::PythonError(const nb::python_error& error) : PythonError(nb::borrow(error.value())) {
    if (error.traceback()) PyException_SetTraceback(exception_.get(), error.traceback().ptr());
}

PythonError::PythonError(nb::object exception)
    : exception_(exception.inc_ref().ptr(), drop),
      text_(std::make_shared<std::string>(sentence_of(exception))) {}

nb::object PythonError::exception() const {
    return nb::borrow(exception_.get());
}

bool PythonError::is_wish() const {
    return PyErr_GivenExceptionMatches(exception_.get(), PyExc_Exception) == 0;
}

}  // namespace tidemill::python

#pragma once

#include <exception>
#include <string>

#include "bindings/python.hpp"

namespace tidemill::python {

/// Ends a child process in which a task's call has come back, where no thread is left that would go on:
/// writes to standard error, with what was raised, if anything. Needs the lock.
[[noreturn]] void end_forked_process(const std::string& task, const std::exception_ptr& raised);

/// Errors of C++ are raised as this class of Python's, which must live as long as the process. Their
/// sentences may name files: names are bytes, and what is not UTF-8 stays what it is, as in Python's own
/// errors.
template <class E>
void raise_as(const nb::object& type) {
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* raised) {
            try {
                std::rethrow_exception(thrown);
            } catch (const E& error) {
                const std::string text = error.what();
                const auto size = static_cast<Py_ssize_t>(text.size());
                const nb::object told = nb::steal(PyUnicode_DecodeUTF8(text.data(), size, "surrogateescape"));
                PyErr_SetObject(static_cast<PyObject*>(raised), told.ptr());
            }
        },
        type.ptr());
}

/// One class of Python's for each room's errors, with the same sentences.
void bind_errors(nb::module_& module);

}  // namespace tidemill::python

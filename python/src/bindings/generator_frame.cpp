#include "bindings/generator_frame.hpp"

namespace tidemill::python {

namespace {

// A tuple that others have, too, is kept, and so is what it names.
std::size_t times_in(nb::handle value, PyObject* object, Py_ssize_t usual_references) {
    if (value.is(object)) return 1;
    if (!PyTuple_CheckExact(value.ptr()) || Py_REFCNT(value.ptr()) > usual_references) return 0;
    std::size_t times = 0;
    for (const nb::handle each : nb::borrow<nb::tuple>(value)) times += each.is(object) ? 1 : 0;
    return times;
}

}  // namespace

std::size_t names_in_generator(const nb::object& generator, PyObject* object) {
    const nb::object frame = generator.attr("gi_frame");
    if (frame.is_none()) return 0;
    const nb::object variables = frame.attr("f_locals");
    const bool is_copy = PyDict_CheckExact(variables.ptr()) != 0;  // until Python 3.12
    std::size_t names = 0;
    for (const nb::handle name : nb::list(variables)) {
        const nb::object value = variables[name];
        names += times_in(value, object, is_copy ? 3 : 2);
    }
    // The copy stays with the frame, and would keep what it names.
    if (is_copy) PyDict_Clear(variables.ptr());
    return names;
}

}  // namespace tidemill::python

#include "bindings/frame_names.hpp"

#include "bindings/numpy.hpp"

namespace tidemill::python {

namespace {

bool is_part(PyObject* value, PyObject* array) {
    return PyArray_Check(value) && PyArray_BASE(reinterpret_cast<PyArrayObject*>(value)) == array;
}

// A part or a tuple that others have, too, is kept, and so is what it names.
std::size_t times_in(nb::handle value, PyObject* array, Py_ssize_t usual_references) {
    if (value.is(array)) return 1;
    if (Py_REFCNT(value.ptr()) > usual_references) return 0;
    if (is_part(value.ptr(), array)) return 1;
    if (!PyTuple_CheckExact(value.ptr())) return 0;
    std::size_t times = 0;
    for (const nb::handle each : nb::borrow<nb::tuple>(value)) times += each.is(array) ? 1 : 0;
    return times;
}

std::size_t names_in(nb::handle frame, PyObject* array) {
    const nb::object variables = frame.attr("f_locals");
    const bool is_copy = PyDict_CheckExact(variables.ptr()) != 0;  // until Python 3.12
    std::size_t names = 0;
    for (const nb::handle name : nb::list(variables)) {
        const nb::object value = variables[name];
        names += times_in(value, array, is_copy ? 3 : 2);
    }
    // The copy stays with the frame, and would keep what it names.
    if (is_copy) PyDict_Clear(variables.ptr());
    return names;
}

// Others' variables are no copy, but a module's or a class's own.
bool is_of_function(nb::handle frame) {
    constexpr int kOptimized = 1;  // inspect.CO_OPTIMIZED
    return (nb::cast<int>(frame.attr("f_code").attr("co_flags")) & kOptimized) != 0;
}

}  // namespace

std::size_t names_in_generator(const nb::object& generator, PyObject* array) {
    const nb::object frame = generator.attr("gi_frame");
    return frame.is_none() ? 0 : names_in(frame, array);
}

std::size_t names_in_tracebacks(nb::handle array) {
    const nb::object frame_type = nb::module_::import_("types").attr("FrameType");
    const nb::list referrers(nb::module_::import_("gc").attr("get_referrers")(array));
    std::size_t names = 0;
    for (const nb::handle each : referrers)
        if (each.type().is(frame_type) && is_of_function(each)) names += names_in(each, array.ptr());
    return names;
}

}  // namespace tidemill::python

#include "bindings/element.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/runtime/graph/graph_error.hpp"

namespace tidemill::python {

namespace {

// Those that graphs written in C++ have no name for get NumPy's.
ElementType named(ElementType type, const char* name) {
    type.name = name;
    return type;
}

const std::vector<Element>& elements() {
    static const std::vector<Element> all = {
        {NPY_INT8, element_type<std::int8_t>()},
        {NPY_UINT8, element_type<std::uint8_t>()},
        {NPY_INT16, element_type<std::int16_t>()},
        {NPY_UINT16, named(element_type<std::uint16_t>(), "uint16")},
        {NPY_INT32, element_type<std::int32_t>()},
        {NPY_UINT32, element_type<std::uint32_t>()},
        {NPY_INT64, named(element_type<std::int64_t>(), "int64")},
        {NPY_UINT64, element_type<std::uint64_t>()},
        {NPY_FLOAT32, element_type<float>()},
        {NPY_FLOAT64, element_type<double>()},
        {NPY_COMPLEX64, element_type<std::complex<float>>()},
        {NPY_COMPLEX128, named(element_type<std::complex<double>>(), "cf64")}};
    return all;
}

}  // namespace

const Element& element_of(int numpy_type) {
    const auto found = std::ranges::find(elements(), numpy_type, &Element::numpy_type);
    if (found != elements().end()) return *found;
    std::vector<std::string> names;
    std::ranges::transform(elements(), std::back_inserter(names),
                           [](const Element& e) { return e.type.name; });
    const nb::object wanted = nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(numpy_type)));
    throw GraphError(fmt::format("a socket cannot carry elements of type {}: there are {}",
                                 nb::str(wanted).c_str(), fmt::join(names, ", ")));
}

}  // namespace tidemill::python

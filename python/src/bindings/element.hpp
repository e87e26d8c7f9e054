#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "bindings/numpy.hpp"

#include "tidemill/runtime/graph/element_type.hpp"

namespace tidemill::python {

/// A socket's element type for NumPy and for a graph.
struct Element {
    int numpy_type;
    ElementType type;
};

/// The element of that number of NumPy's; throws GraphError naming all there are.
const Element& element_of(int numpy_type);

/// Calls `function.template operator()<T>()` with T as NumPy's type has it.
template <class Function>
auto with_element(int numpy_type, Function function) {
    switch (element_of(numpy_type).numpy_type) {
        case NPY_INT8:
            return function.template operator()<std::int8_t>();
        case NPY_UINT8:
            return function.template operator()<std::uint8_t>();
        case NPY_INT16:
            return function.template operator()<std::int16_t>();
        case NPY_UINT16:
            return function.template operator()<std::uint16_t>();
        case NPY_INT32:
            return function.template operator()<std::int32_t>();
        case NPY_UINT32:
            return function.template operator()<std::uint32_t>();
        case NPY_INT64:
            return function.template operator()<std::int64_t>();
        case NPY_UINT64:
            return function.template operator()<std::uint64_t>();
        case NPY_FLOAT64:
            return function.template operator()<double>();
        case NPY_COMPLEX64:
            return function.template operator()<std::complex<float>>();
        case NPY_COMPLEX128:
            return function.template operator()<std::complex<double>>();
        default:
            return function.template operator()<float>();
    }
}

}  // namespace tidemill::python

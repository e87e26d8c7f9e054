#pragma once

#include <utility>
#include <vector>

#include "bindings/element.hpp"
#include "bindings/numpy.hpp"
#include "bindings/python.hpp"

namespace tidemill::python {

/// An array over values that it owns from now on, without a copy.
template <class T>
nb::object owned_array(std::vector<T> values, int numpy_type) {
    auto* const kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* all) noexcept { delete static_cast<std::vector<T>*>(all); });
    npy_intp size = static_cast<npy_intp>(kept->size());
    nb::object array = nb::steal(PyArray_SimpleNewFromData(1, &size, numpy_type, kept->data()));
    if (!array.is_valid() ||
        PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array.ptr()), owner.release().ptr()) < 0)
        throw nb::python_error();
    return array;
}

}  // namespace tidemill::python

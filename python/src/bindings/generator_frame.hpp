#pragma once

#include <cstddef>

#include "bindings/python.hpp"

namespace tidemill::python {

/// How many of a waiting generator's variables name the object, themselves or in a tuple.
std::size_t names_in_generator(const nb::object& generator, PyObject* object);

}  // namespace tidemill::python

#pragma once

#include <cstddef>

#include "bindings/python.hpp"

namespace tidemill::python {

/// How often variables of a generator name an array, a part of it, or a tuple that only they have names it.
/// Needs the interpreter's lock, as the other does.
std::size_t names_in_generator(const nb::object& generator, PyObject* array);

/// How often variables of functions that have returned do: tracebacks keep them. Searches all that Python
/// has.
std::size_t names_in_tracebacks(nb::handle array);

}  // namespace tidemill::python

#pragma once

// NumPy's own interface, whose table of functions numpy.cpp fetches for all.

#include "bindings/python.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL tidemill_numpy_functions
#ifndef TIDEMILL_FETCHES_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

namespace tidemill::python {

/// Called once, before anything else here; throws what the import raises.
void fetch_numpy();

}  // namespace tidemill::python

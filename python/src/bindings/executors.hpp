#pragma once

#include "bindings/python.hpp"

namespace tidemill::python {

/// Sequence, Pipeline, Dynamic, and the profiler, which run graphs.
void bind_executors(nb::module_& module);

}  // namespace tidemill::python

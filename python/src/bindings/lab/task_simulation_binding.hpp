#pragma once

#include "bindings/python.hpp"

namespace tidemill::python {

void bind_task_simulation(nb::module_& module);

}  // namespace tidemill::python

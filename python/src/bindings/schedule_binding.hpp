#pragma once

#include "bindings/python.hpp"

namespace tidemill::python {

/// Profiles, schedules, strategies, fronts, simulation.
void bind_schedules(nb::module_& module);

}  // namespace tidemill::python

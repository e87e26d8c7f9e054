#pragma once

#include "bindings/python.hpp"

namespace tidemill::python {

/// Receptions, error rates, and the receiver's profile.
void bind_dvbs2(nb::module_& module);

}  // namespace tidemill::python

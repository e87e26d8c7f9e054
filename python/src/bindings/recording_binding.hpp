#pragma once

#include "bindings/python.hpp"

namespace tidemill::python {

void bind_recordings(nb::module_& module);

}  // namespace tidemill::python

#pragma once

#include "bindings/python.hpp"

namespace tidemill::python {

/// A receiver whose decoder is elsewhere, and that decoder.
void bind_remote(nb::module_& module);

}  // namespace tidemill::python

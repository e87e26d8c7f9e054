#pragma once

#include "bindings/python.hpp"

namespace tidemill::python {

/// The receiver that samples are pushed into, and the transmitter.
void bind_transceiver(nb::module_& module);

}  // namespace tidemill::python

#pragma once

#include "bindings/python.hpp"

#include "tidemill/base/json.hpp"

namespace tidemill::python {

/// The value as Python has it: dict, list, str, int, float, bool, None.
nb::object to_python(const Json& value);

/// The same of an object.
nb::dict to_dict(const Json& object);

}  // namespace tidemill::python

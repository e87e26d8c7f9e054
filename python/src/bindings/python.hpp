#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>  // without it texts compile, and fail to convert

namespace tidemill::python {

namespace nb = nanobind;

}  // namespace tidemill::python

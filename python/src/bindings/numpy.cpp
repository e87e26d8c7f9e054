#define TIDEMILL_FETCHES_NUMPY
#include "bindings/numpy.hpp"

namespace tidemill::python {

void fetch_numpy() {
    if (_import_array() < 0) throw nb::python_error();
}

}  // namespace tidemill::python

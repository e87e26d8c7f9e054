"""What the tests have to know of the interpreter that runs them."""

import sysconfig

import pytest

HAS_LOCK = not sysconfig.get_config_var("Py_GIL_DISABLED")

lends_arrays = pytest.mark.skipif(not HAS_LOCK, reason="without an interpreter's lock arrays are copies, to be kept")

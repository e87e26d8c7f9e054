"""What to say when the library of the package cannot be loaded."""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import tidemill_program

_FOLDER = Path(__file__).parent


def explained(error: ImportError) -> ImportError:
    """The same fault as a sentence that says what to do."""
    here = f"Python {sys.version_info.major}.{sys.version_info.minor} on {sys.platform}"
    built = sorted(file.name for file in _FOLDER.glob("_core.*.so"))
    is_for_this_one = any((_FOLDER / f"_core{suffix}").exists() for suffix in EXTENSION_SUFFIXES)
    if old := tidemill_program.what_is_too_old():
        text = f"this system is too old for tidemill: {old}"
    elif "subinterpreter" in str(error).lower():
        text = "tidemill works in a process's main interpreter only: import it there, or in a process of its own"
    elif "more than once" in str(error).lower():
        text = "tidemill is imported already, and a process can import it once: keep its modules in sys.modules"
    elif "numpy" in str(error).lower():
        text = f"tidemill needs NumPy: {error}"
    elif built and not is_for_this_one:
        text = f"tidemill was built for another Python ({built[0]}), and this is {here}: install the wheel for this one"
    elif not built:
        text = f"tidemill is here as source only: build it, by ./x python or pip install, for {here}"
    else:
        text = f"the library of tidemill cannot be loaded into {here}: {error}; install a wheel that is for this system"
    return ImportError(text, name=error.name, path=error.path)

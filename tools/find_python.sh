# shellcheck shell=bash
# To be sourced: which interpreters there are, on the path and where pyenv keeps them.

# Runs, is that version with the lock or without (3.13t), and has the headers that an extension takes.
usable_python() { # PYTHON VERSION
    "$1" -c 'import os, sys, sysconfig
here = "%d.%d" % sys.version_info[:2] + "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
sys.exit(here != sys.argv[1] or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' "$2" 2>/dev/null
}

# All usable ones of these versions, each once under whatever names; 3.13t is one without a lock.
find_pythons() { # VERSION...
    local version python
    for version; do
        for python in "$(command -v "python$version")" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"${version%t}".*/bin/python; do
            ! usable_python "$python" "$version" || realpath "$("$python" -c 'import sys; print(sys.executable)')"
        done
    done | awk '!seen[$0]++'
}

# The first of them for each wheel that is made.
python_for() { # 3.11 | 3.12 | 3.13t | 3.14t
    case "$1" in
        3.12) find_pythons 3.12 3.13 3.14 ;; # the stable ABI
        *) find_pythons "$1" ;;
    esac | sed -n 1p  # which reads to the end: who writes to it is not killed
}

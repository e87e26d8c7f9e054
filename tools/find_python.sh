# shellcheck shell=bash
# To be sourced: which interpreters there are, on the path and where pyenv keeps them.

# Runs, is new enough, and has the headers that an extension takes.
usable_python() { # PYTHON
    "$1" -c 'import os, sys, sysconfig
sys.exit(sys.version_info < (3, 11) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null
}

# All usable ones of these versions; 3.13t is one without a lock.
find_pythons() { # VERSION...
    local version python
    for version; do
        for python in "$(command -v "python$version")" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python; do
            [[ $version == *t || $python != *t/bin/python ]] && usable_python "$python" && printf '%s\n' "$python"
        done
    done
    return 0
}

# The first of them for each wheel that is made.
python_for() { # 3.11 | 3.12 | free-threaded
    case "$1" in
        3.11) find_pythons 3.11 ;;
        3.12) find_pythons 3.12 3.13 3.14 ;;
        free-threaded) find_pythons 3.13t 3.14t ;;
    esac | sed -n 1p  # which reads to the end: who writes to it is not killed
}

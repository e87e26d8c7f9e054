#!/usr/bin/env bash
# Compiles python/src/bindings as far as errors go, and makes nothing: so that a change of the rooms that breaks them is
# seen without building the package. Where no Python here has its headers, nanobind and NumPy, that is said.
# usage: check_bindings.sh [COMPILER]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
compiler=${1:-c++}

# Each on a line of its own: of Python's headers, of nanobind's and of NumPy's.
include_folders() { # PYTHON
    "$1" -c 'import os, sys, sysconfig, nanobind, numpy
folder = sysconfig.get_path("include")
print(folder, nanobind.include_dir(), numpy.get_include(), sep="\n")
sys.exit(sys.version_info < (3, 11) or not os.path.exists(folder + "/Python.h"))' 2>/dev/null
}

for python in build/venv/bin/python python3 /usr/bin/python3; do
    folders=$(include_folders "$python") && break
    folders=""
done
if [ -z "$folders" ]; then
    echo "Skipped: no Python 3.11 or newer here has its headers, nanobind and NumPy (./x python gets them)"
    exit
fi
mapfile -t folders <<<"$folders"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=c++20 -fsyntax-only -fvisibility=hidden -I. -Ipython/src -DTIDEMILL_VERSION='""')
for folder in "${folders[@]}"; do flags+=(-isystem "$folder"); done

# Headers that nearly all of them include are read once.
grep -hoE '^#include <[^>]+>' python/src/bindings/{,lab/}*.[ch]pp | grep -vE 'numpy' | sort -u >"$work/common.hpp"
{ echo '#include <nanobind/nanobind.h>'; cat "$work/common.hpp"; } >"$work/all.hpp"
"$compiler" "${flags[@]/-fsyntax-only/-O0}" -x c++-header "$work/all.hpp" -o "$work/all.hpp.gch"

sources=$(printf "%s\n" python/src/bindings/{,lab/}*.cpp)
printf "%s\n" "$sources" |
    xargs -P "$(nproc)" -I{} "$compiler" "${flags[@]}" -include "$work/all.hpp" {}
printf '%d files of bindings compile with %s\n' "$(grep -c . <<<"$sources")" "$python"

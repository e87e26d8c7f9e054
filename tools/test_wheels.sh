#!/usr/bin/env bash
# Installs each wheel of dist/ into a fresh virtual environment of every interpreter here that it is for, and lives on it
# there, without a compiler on the path: the program receives what the module does, the module's demo runs, and so do the
# tests of arrays and their lives. Where pip cannot get NumPy, matplotlib or pytest, that is said.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/find_python.sh
. tools/find_python.sh

ls dist/*.whl >/dev/null 2>&1 || { echo 'There are no wheels in dist: ./x python wheel makes them'; exit 1; }

# By the wheel's tags.
versions_of() { # WHEEL
    case "$1" in
        *-cp312-abi3-*) printf '%s\n' 3.12 3.13 3.14 ;;
        *) printf '%s\n' "$1" | sed -E 's/.*-cp3[0-9]+-cp3([0-9]+t?)-.*/3.\1/' ;;
    esac
}

live_on() { # WHEEL PYTHON
    local folder root="$PWD" path
    folder=$(mktemp -d)
    "$2" -m venv "$folder/venv"
    path="$folder/venv/bin"
    "$path/python" -m pip install -q --disable-pip-version-check --only-binary :all: "$1" matplotlib pytest hypothesis ||
        { printf 'Skipped: pip cannot install %s into %s\n' "$1" "$2"; return 0; }
    (
        cd "$folder"
        export PATH="$path" OPENBLAS_NUM_THREADS=1
        tidemill dvbs2 rx "$root/data/demo.sigmf-meta" -o rx.ts --executor sequence >rx.log 2>&1
        python -c "
import sys, tidemill as tm
report = tm.dvbs2.receive(sys.argv[1], executor='sequence')
assert report.packets.tobytes() == open('rx.ts', 'rb').read(), 'program and module differ'
names = sorted(tm.licences())
print(f'Python {sys.version.split()[0]}: {report.frames} frames, {len(report.packets) // 188} packets, notices:', *names)
" "$root/data/demo.sigmf-meta"
        python -m tidemill.demo >demo.log
        cd "$root/python/tests"
        python -m pytest -q -rs -p no:cacheprovider @lives.txt
    )
    rm -rf "$folder"
}

for wheel in dist/*.whl; do
    printf '%s\n' "$wheel"
    for version in $(versions_of "$wheel"); do
        pythons=$(find_pythons "$version")
        [ -n "$pythons" ] || { printf 'Skipped: there is no Python %s to install it into\n' "$version"; continue; }
        while IFS= read -r python; do live_on "$PWD/$wheel" "$python"; done <<<"$pythons"
    done
done

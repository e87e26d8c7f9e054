#!/usr/bin/env bash
# Programs that were linked with an older libtidemill.so.0 must work with this one: the library has all that the
# recorded dump says, unchanged. After an addition: abi_test.sh LIBRARY --record.
# usage: abi_test.sh LIBRARY [--record]
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
recorded="$here/libtidemill.abi"
command -v abidiff >/dev/null || { echo "Skipped: there is no abidiff (abigail-tools)"; exit 0; }
dump=$(mktemp)
trap 'rm -f "$dump"' EXIT
abidw --no-corpus-path --no-comp-dir-path --no-show-locs --suppressions "$here/abi_private.ini" \
    --no-elf-needed --out-file "$dump" "$1"
if [ "${2:-}" = --record ]; then
    cp "$dump" "$recorded"
    exit
fi
# Its status is a set of bits: 4 for a change, 8 for an incompatible one.
status=0
abidiff --no-added-syms "$recorded" "$dump" || status=$?
[ "$status" = 0 ] || { echo "the C interface is not what was recorded"; exit 1; }
count() { grep -c '<elf-symbol ' "$1"; }
new=$(($(count "$dump") - $(count "$recorded")))
[ "$new" = 0 ] || { echo "$new functions are not recorded yet: tidemill/c/abi_test.sh LIBRARY --record"; exit 1; }
printf '%d functions, as recorded\n' "$(count "$dump")"

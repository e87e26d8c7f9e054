#!/usr/bin/env bash
# What must not compile does not, for the reason that its line states; every other line compiles.
# usage: graph_misuse_test.sh SOURCE COMPILER FLAGS...
set -uo pipefail
source=$1
shift

if messages=$(LC_ALL=C "$@" -fsyntax-only "$source" 2>&1); then
    printf '%s compiles, and should not\n' "$source"
    exit 1
fi

# One line per diagnostic: the lines of the source that it names, then what it says. A diagnostic in a header
# comes after the "required from here" of the line that asked for it.
diagnostics=$(awk -v file="${source##*/}" '
    { n = split($0, part, ":"); here = part[1] ~ file "$" ? part[2] : "" }
    / required from / { if (here) from = here; next }
    /: error: / { if (here) from = here; sub(/.*: error: /, ""); print from ": " $0; from = "" }
' <<<"$messages")

failed=0
expected=$(grep -n '// error: ' "$source" | sed -E 's,^([0-9]+):.*// error: (.*),\1: \2,')
while IFS= read -r error; do
    line=${error%%:*}
    grep "^$line: " <<<"$diagnostics" | grep -qF "${error#*: }" && continue
    printf '%s:%s: the compiler does not say "%s"\n' "$source" "$line" "${error#*: }"
    failed=1
done <<<"$expected"

while IFS= read -r line; do
    grep -q "^$line: " <<<"$expected" && continue
    printf '%s:%s: does not compile:\n%s\n' "$source" "$line" "$(grep "^$line: " <<<"$diagnostics")"
    failed=1
done < <(cut -d: -f1 <<<"$diagnostics" | sort -un)

# A program in libstdc++'s debug mode hears at once why it would not link.
wanted='Tidemill was built without _GLIBCXX_DEBUG'
messages=$(printf '#include "tidemill/runtime/graph/graph.hpp"\n' |
    LC_ALL=C "$@" -D_GLIBCXX_DEBUG -x c++ -fsyntax-only - 2>&1)
if ! grep -qF "$wanted" <<<"$messages"; then
    printf 'with _GLIBCXX_DEBUG the compiler does not say "%s"\n' "$wanted"
    failed=1
fi

printf '%d wrong lines are refused\n' "$(wc -l <<<"$expected")"
exit "$failed"

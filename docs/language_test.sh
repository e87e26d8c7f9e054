#!/usr/bin/env bash
# docs/guides/language.md and docs/reference/language.md show every example of examples/language, as it is, and what it prints.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
pages=(docs/guides/language.md docs/reference/language.md)

# The pages' blocks of code and output: a line that names the file, then what the page says it holds.
shown() {
    awk '/^`examples\/language\/.*\.cpp`$/ { file = substr($0, 2, length($0) - 2) }
         /^```cpp$/ { print "== " file; inside = 1; next }
         /^```text$/ { sub(/\.cpp$/, ".out", file); print "== " file; inside = 1; next }
         /^```$/ { inside = 0 }
         inside' "${pages[@]}"
}

there() {
    for source in examples/language/*.cpp; do
        printf '== %s\n' "$source"
        cat "$source"
        printf '== %s\n' "${source%.cpp}.out"
        cat "${source%.cpp}.out"
    done
}

diff <(shown) <(there)
printf '%d examples shown as they are\n' "$(cat "${pages[@]}" | grep -c '^```cpp$')"

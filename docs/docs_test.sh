#!/usr/bin/env bash
# The documents stay true: what they point to exists, and the verbs they name are the verbs of ./x.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shopt -s globstar nullglob

failed=0
wrong() {
    printf '%s: %s\n' "$1" "$2"
    failed=1
}

# Markdown links outside blocks of code that stay inside the repository, without their #anchor.
links() { # FILE
    # shellcheck disable=SC2016 # backticks as such
    sed '/^```/,/^```$/d' "$1" | grep -oE '\]\([^)#]+' | cut -c3- | grep -vE '^[a-z]+:' || true
}

# Words in backticks that look like a source file of this repository.
named_files() { # FILE
    # shellcheck disable=SC2016 # backticks as such
    grep -oE '`[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+\.(hpp|cpp|md|sh|cmake|py|inc)`' "$1" | tr -d '`' || true
}

named_verbs() { # FILE
    grep -oE '\./x [a-z]+' "$1" | cut -d' ' -f2 || true
}

verbs=$(./x help | sed -nE 's/^  ([a-z]+) .*/\1/p')
[ -n "$verbs" ] || wrong x "help lists no verbs"

documents=(*.md docs/**/*.md data/*.md examples/**/*.md schedext/*.md tidemill/**/*.md)
[ ${#documents[@]} -gt 0 ] || wrong docs "there are no documents"

for document in "${documents[@]}"; do
    for link in $(links "$document"); do
        [ -e "$(dirname "$document")/$link" ] || wrong "$document" "links to $link, which is not there"
    done
    for file in $(named_files "$document"); do
        [ -e "$file" ] || [ -e "$(dirname "$document")/$file" ] || wrong "$document" "names $file, which is not there"
    done
    for verb in $(named_verbs "$document"); do
        grep -qx "$verb" <<<"$verbs" || wrong "$document" "names ./x $verb, which ./x help does not list"
    done
done

# A guide is one task; what is looked up, and what was measured, has a folder of its own.
few_words() { # LIMIT FILES
    local words
    words=$(cat "${@:2}" | wc -w)
    [ "$words" -le "$1" ] || wrong "${*:2}" "$words words are more than $1: move what is looked up to docs/reference"
}
few_words 700 README.md
few_words 3500 docs/guides/language.md
guides=(docs/guides/**/*.md)
few_words 35000 "${guides[@]}"
for guide in "${guides[@]}"; do
    [ "$guide" = docs/guides/language.md ] || few_words 2500 "$guide"
done

# Each verb in the help must be understood: an unknown verb ends with 2 and the list, a known one never does.
status=0
./x no-such-verb >/dev/null 2>&1 || status=$?
[ "$status" = 2 ] || wrong x "an unknown verb ends with $status instead of 2"
for verb in $verbs; do
    grep -qE "^        ([a-z]+ \| )*$verb( \| [a-z]+)*\) " x || wrong x "help lists $verb, main does not know it"
done

# docs/guides/dynamic.md shows its example as it is.
diff <(awk '/^```cpp$/ { text = ""; inside = 1; next }
            /^```$/ { if (text ~ /^\/\/ Tasks that say/) printf "%s", text; text = ""; inside = 0 }
            inside { text = text $0 "\n" }' docs/guides/dynamic.md) examples/5_accesses.cpp ||
    wrong docs/guides/dynamic.md "shows another program than examples/5_accesses.cpp"

# SECURITY.md names every source file that listens.
listeners=$(grep -rlE '(^|[^A-Za-z_.>])::(bind|listen|shm_open)\(|bind_to_port\(|HTTPServer\b' tidemill schedext python/src \
    --include='*.cpp' --include='*.py' | grep -vE '_test\.cpp$|/testing/' | sort)
# shellcheck disable=SC2016 # backticks as such
diff <(printf '%s\n' "$listeners") <(sed -n '/^## What listens/,/^## Limits/p' SECURITY.md | grep '^| `' | cut -d'|' -f2 |
    grep -oE '`[^`]+`' | tr -d '`' | sort) || wrong SECURITY.md "lists other files that listen than there are"

for meta in data/*.sigmf-meta; do
    sum=$(sha512sum "${meta%-meta}-data" | cut -d' ' -f1)
    grep -q "\"core:sha512\": \"$sum\"" "$meta" || wrong "$meta" "states another sha512 than its data have"
done

printf '%d documents, %d verbs checked\n' ${#documents[@]} "$(wc -w <<<"$verbs")"
exit "$failed"

#!/usr/bin/env bash
# Counts the library's statements: semicolons outside comments and texts, so that layout does not matter, in every
# file under tidemill/ that is no test, benchmark or fuzzer and serves not only those.
# usage: statements.sh [COMMIT]    of what lies here, or of a commit: git archive is asked for it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ $# = 1 ]; then
    tree=$(mktemp -d)
    trap 'rm -rf "$tree"' EXIT
    git archive "$1" tidemill | tar -x -C "$tree"
    cd "$tree"
fi

# What counts is reached by includes from a source of a library or program, or from a front header.
# shellcheck disable=SC2016 # awk's own $
find tidemill -name '*.[ch]pp' | sort | xargs -x -s 1000000 awk '
    /^#include "tidemill\// { split($0, part, "\""); includes[FILENAME] = includes[FILENAME] " " part[2] }
    {
        gsub(/"(\\.|[^"\\])*"|\047(\\.|[^\047\\])\047/, "")
        sub(/\/\/.*/, "")
        count[FILENAME] += gsub(/;/, "")
    }
    function reach(file,    each, i, n) {
        if (reached[file]++) return
        total += count[file]
        n = split(includes[file], each, " ")
        for (i = 1; i <= n; ++i) reach(each[i])
    }
    END {
        for (file in count) {
            if (file ~ /\/testing\//) continue
            if (file ~ /\.cpp$/ && file !~ /_(test|bench|fuzz)\.cpp$/ || file ~ /^tidemill\/[^\/]*\.hpp$/) reach(file)
        }
        print total + 0
    }'

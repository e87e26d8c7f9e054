#!/usr/bin/env bash
# Does a change leave everything as it was? Packets of all recordings, schedules of all profiles and the tables of the
# papers must be equal to the byte; a receiver's and a transmitter's rate and the cost of tasks and hops are measured in
# turn, and the 95 % interval of their ratio must lie below a limit. Recordings beyond data/ are those of the folder in
# TIDEMILL_TEST_DATA; 0 alternations measure nothing. Exits with 1 when anything differs or is slower.
# usage: tools/same.sh BEFORE [AFTER] [ALTERNATIONS]     each a commit or a program; AFTER: what is built in build/release
#        tools/same.sh HEAD~1                            the work tree beside the last commit but one
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -ge 1 ] || { sed -n '/^# usage/,/^set/p' "$0" | sed '$d; s/^# //' >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
alternations=${3:-20}
differences=0

# The program of a commit is built beside this one.
program_of() { # COMMIT OR PROGRAM
    if [ -f "$1" ] && [ -x "$1" ]; then realpath "$1"; return; fi
    local commit
    commit=$(git rev-parse --short "$1^{commit}")
    local tree="$PWD/build/same/$commit"
    [ -d "$tree" ] || git worktree add --quiet --detach "$tree" "$commit" >&2
    (cd "$tree" && ./x build release tidemill runtime_bench) >&2
    echo "$tree/build/release/bin/tidemill"
}

tell() { # EQUAL? TEXT
    if [ "$1" = 0 ]; then printf 'yes  %s\n' "$2"; else printf 'NO   %s\n' "$2"; differences=$((differences + 1)); fi
}

# Prints what both programs say to one command, its exit status at the end; @ in a word is a file that the command writes.
same_output() { # TEXT WORDS...
    local text=$1 side words
    shift
    for side in before after; do
        words=("${@//@/$work/out}")
        rm -f "$work/out"
        { "${!side}" "${words[@]}" 2>/dev/null || echo "status $?"; } >"$work/$side"
        [ ! -e "$work/out" ] || cp "$work/out" "$work/$side"
    done
    if cmp -s "$work/before" "$work/after"; then same=$((same + 1)); else tell 1 "$text: $*"; fi
    tried=$((tried + 1))
}

group() { same=0 tried=0; }
told() { if [ "$same" = "$tried" ]; then tell 0 "$1: $same of $tried equal"; fi; }

packets() {
    local recording
    group
    for recording in data/*.sigmf-meta ${TIDEMILL_TEST_DATA:+"$TIDEMILL_TEST_DATA"/iq/*.sigmf-meta "$TIDEMILL_TEST_DATA"/iq/*/*.sigmf-meta}; do
        [ ! -e "$recording" ] || same_output packets dvbs2 rx "$recording" --executor sequence -o @
    done
    told "packets of recordings"
    [ -n "${TIDEMILL_TEST_DATA:-}" ] || echo "skipped: further recordings (TIDEMILL_TEST_DATA names no folder)"
}

schedules() {
    local profile strategy
    group
    for profile in data/profiles/*.json; do
        for strategy in packed mixed herad 2catac fertac otac-big otac-little; do
            same_output schedule schedule "$profile" --strategy "$strategy" -o @
        done
        same_output schedule schedule "$profile" --least-latency -o @
        same_output schedule schedule "$profile" --objective power --watts big=1.0/0.1,little=0.25 -o @
    done
    told "schedules of profiles"
}

# Those that are computed; others measure this machine.
tables() {
    local table
    group
    for table in table1 table2 table3 fig4 fig5 fig6 fig8 fig9 fig11 fig12 fig13 fig14 fig15 streampu.table3 streampu.table4 \
        streampu.table5 streampu.fig11 table4.1 table4.3 table4.4 fig4.1 fig4.3 fig4.4 fig4.5 fig4.8 fig4.9 fig4.10 fig4.13 fig4.17; do
        same_output table reproduce "$table"
    done
    told "tables and figures of the papers"
}

# Reads ratios AFTER / BEFORE of times; the interval is Student's, of their logarithms.
verdict() { # TEXT LIMIT_PERCENT
    local slower
    awk -v text="$1" -v limit="$2" '
        { x = log($1); n++; sum += x; squares += x * x }
        END {
            mean = sum / n; deviation = sqrt((squares - n * mean * mean) / (n - 1))
            t = 1.96 + 2.4 / (n - 1)
            low = 100 * (exp(mean - t * deviation / sqrt(n)) - 1); high = 100 * (exp(mean + t * deviation / sqrt(n)) - 1)
            printf "%s: %+.2f %% (95 %%: %+.2f to %+.2f, %d alternations), limit %+g %%\n", text, 100 * (exp(mean) - 1), low, high, n, limit
            exit high >= limit
        }' >"$work/verdict" || slower=1
    tell "${slower:-0}" "$(cat "$work/verdict")"
}

cpu_seconds() { # COMMAND...
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

# Processor time, in an order that changes from turn to turn.
paired() { # TEXT LIMIT WORDS...
    local text=$1 limit=$2 turn first second one other
    shift 2
    for ((turn = 0; turn < alternations; ++turn)); do
        if ((turn % 2)); then first=after second=before; else first=before second=after; fi
        one=$(cpu_seconds "${!first}" "$@")
        other=$(cpu_seconds "${!second}" "$@")
        if ((turn % 2)); then echo "$one $other"; else echo "$other $one"; fi
    done | awk '{ print $1 / $2 }' | verdict "$text" "$limit"
}

# Nanoseconds of a benchmark's case, both in one turn.
paired_bench() { # TEXT LIMIT GROUP FILTER CASE
    local turn side
    for side in before after; do
        [ -x "$(dirname "${!side}")/runtime_bench" ] && continue
        echo "skipped: $1 (${!side} has no runtime_bench beside it)"
        return
    done
    for ((turn = 0; turn < alternations; ++turn)); do
        for side in before after; do
            "${!side}" bench "$3" "$4" --json 2>/dev/null | grep -A1 "\"name\": \"$5\"" |
                sed -n 's/.*"ours": *\([0-9.e+-]*\).*/\1/p' | head -n 1 >"$work/$side"
        done
        paste "$work/after" "$work/before"
    done | awk 'NF == 2 { print $1 / $2 }' | verdict "$1" "$2"
}

[ -n "${2:-}" ] || ./x build release tidemill runtime_bench >&2
# shellcheck disable=SC2034 # read by their names
before=$(program_of "$1") after=$(program_of "${2:-build/release/bin/tidemill}")
packets
schedules
tables
[ "$alternations" -gt 0 ] || exit $((differences > 0))
"$before" dvbs2 tx --random 60000 --modcod "QPSK 8/9" --frame short --pilots --format ci8 -o "$work/sent.sigmf-meta" >/dev/null 2>&1
"$before" dvbs2 channel "$work/sent.sigmf-meta" --symbol-rate 1M --esn0 10 -o "$work/noisy.ci8" >/dev/null 2>&1
paired "receiver's processor time" 1 dvbs2 rx "$work/noisy.ci8" --rate 2M --symbol-rate 1M --executor sequence -o /dev/null
paired "transmitter's processor time" 1 dvbs2 tx --random 300000 --modcod "QPSK 8/9" --frame short --executor sequence --format ci8 -o /dev/null
paired "processor time of 1000 chains' schedules" 1 reproduce table1
paired_bench "an empty task of 100" 1 graph empty_task "tasks 100"
paired_bench "an active hop" 5 hop two_threads "active, 64 B frames"
exit $((differences > 0))

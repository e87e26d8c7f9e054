#!/usr/bin/env bash
# A transmitter and a receiver on the air between two programs: the bundled video goes through tx, a channel, the
# loopback's radio and rx to a player, and the page shows it. Ends after so many seconds, or with Ctrl-C.
set -euo pipefail
program="$1" modules="$2" seconds="${3:-}"
rate=1M symbol_rate=250k frequency=1G
export SOAPY_SDR_PLUGIN_PATH="$modules"
# Two programs that name one air meet there; those of another demo have their own.
air="driver=loopback,air=demo$$"

# Repeated without a break in its continuity counters: behind a multiple of 16 packets of a PID, what is left becomes null
# packets.
mkdir -p out
cp data/demo.ts out/loop.ts
for packet in 1791 1792 1814 1815 1825 1838 1839 1843 1844 1866 1867 1883 1884 1885 1886 1887 1888 1889 1890 1891 1895 1899 1902 1903; do
    printf '\x1f\xff' | dd of=out/loop.ts bs=1 seek=$((packet * 188 + 1)) conv=notrunc status=none
done

children=()
trap 'kill "${children[@]}" 2>/dev/null || true; wait' EXIT

"$program" dvbs2 tx out/loop.ts --repeat 100000 --modcod "QPSK 2/3" --frame short --pilots \
    -o "$air" --freq "$frequency" --rate "$rate" --symbol-rate "$symbol_rate" 2>out/live-tx.log >/dev/null &
children+=($!)

if command -v ffplay >/dev/null && [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    ffplay -loglevel error -fflags nobuffer udp://127.0.0.1:5000 &
    children+=($!)
fi

# Ctrl-C in a terminal reaches all of them; the receiver says how it went.
limit=()
[ -z "$seconds" ] || limit=(timeout --foreground --preserve-status --signal INT "$seconds")
"${limit[@]}" "$program" dvbs2 rx "$air,symbol-rate=$symbol_rate,esn0=9,cfo=4e3,ppm=12" --freq "$frequency" --rate "$rate" \
    --symbol-rate "$symbol_rate" -o udp://127.0.0.1:5000 -o out/live.ts --page auto || status=$?
[ "${status:-0}" = 0 ] || { printf 'The transmitter says:\n' >&2; cat out/live-tx.log >&2; exit "$status"; }
printf '\nThe video is in out/live.ts too: vlc out/live.ts\n' >&2

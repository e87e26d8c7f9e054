#!/usr/bin/env bash
# Installs a build with the shared library under a temporary prefix, and sees whether a program in C can live on that and
# pkg-config alone: it must receive what the program does.
# usage: shared_install_test.sh SOURCE_FOLDER BUILD_FOLDER COMPILER
set -euo pipefail
source=$1 build=$2 compiler=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix="$folder/moved"

cmake --install "$build" --prefix "$folder/prefix" >"$folder/install.log"
mv "$folder/prefix" "$prefix"  # what pkg-config says goes along
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tidemill.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # words
"$compiler" -x c -std=c99 -Wall -Wextra -Wpedantic -Werror "$source/examples/receive.c" -o "$folder/receive" \
    $(pkg-config --cflags --libs tidemill) -Wl,-rpath,"$(pkg-config --variable=libdir tidemill)"
nm -D --defined-only "$(pkg-config --variable=libdir tidemill)/libtidemill.so" | awk '$2 == "T" && $3 !~ /^tidemill_/ { print "not of the interface: " $3; bad = 1 } END { exit bad }'

tidemill="$prefix/bin/tidemill"
"$tidemill" dvbs2 tx --random 2000 --modcod "QPSK 8/9" --frame short --symbol-rate 1e6 -o "$folder/samples.cf32" 2>/dev/null
"$tidemill" dvbs2 rx "$folder/samples.cf32" --sample-rate 2e6 -o "$folder/rx.ts" >/dev/null 2>&1
"$folder/receive" "$folder/samples.cf32" 2e6 "$folder/receive.ts"
cmp "$folder/rx.ts" "$folder/receive.ts"

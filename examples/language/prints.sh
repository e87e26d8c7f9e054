#!/usr/bin/env bash
# Runs a program and fails unless it ends well and prints exactly what a file holds.
# usage: prints.sh FILE COMMAND...
set -euo pipefail
file=$1
shift
"$@" | diff "$file" -

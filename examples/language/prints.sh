#!/usr/bin/env bash
# Runs a program and fails unless it ends well and prints exactly what a file holds.
# usage: prints.sh FILE PROGRAM
set -euo pipefail
"$2" | diff "$1" -

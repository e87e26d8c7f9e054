#!/usr/bin/env bash
# What `tidemill --licences` names must hold every Debian package whose headers the build has read, and every library that
# the program is linked with. The compiler's and C's own libraries, which every system has, are not given away.
# usage: licences_test.sh PROGRAM BUILD_FOLDER [NINJA]
set -euo pipefail
program=$1 build=$2 ninja=${3:-ninja}
command -v dpkg-query >/dev/null || { echo "Skipped: without dpkg nobody knows where files come from"; exit 0; }

# For tests and benchmarks alone, or looked for at run time and not given away.
others='^(libc6|libc6-dev|libgcc-.*|libstdc\+\+.*|linux-libc-dev|doctest-dev|librapidcheck-dev|libbenchmark-dev|libtbb-dev|ocl-icd-.*|opencl-.*|libomp.*)$'
packages_of() { xargs -r realpath -q | sort -u | xargs -r dpkg-query -S 2>/dev/null | cut -d: -f1 | sort -u; }
used=$({
    "$ninja" -C "$build" -t deps | grep -oE '/usr/include/[^ ]+' | packages_of
    # One notice will do for a library and its headers: they are one source.
    ldd "$program" | awk '$1 ~ /^lib(hwy|fmt|hwloc|cpp-httplib)/ { print $3 }' | packages_of | sed -E 's/^(lib[a-z-]*[a-z])[0-9.]+[a-z0-9]*$/\1-dev/'
} | sort -u | grep -vE "$others")
named=$("$program" --licences | sed -n 's/^==== //p' | sort -u)
missing=$(comm -23 <(printf '%s\n' "$used") <(printf '%s\n' "$named"))
[ -z "$missing" ] || { printf 'tidemill --licences does not name:\n%s\n' "$missing"; exit 1; }
printf 'named, as they must be: %s\n' "$(tr '\n' ' ' <<<"$used")"

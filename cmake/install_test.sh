#!/usr/bin/env bash
# Installs a build under a temporary prefix, and sees whether a stranger's project can live on that alone.
# usage: install_test.sh SOURCE_FOLDER BUILD_FOLDER COMPILER SANITIZERS PUBLIC_HEADER...
set -euo pipefail
source=$1 build=$2 compiler=$3 sanitizers=$4
shift 4
flags=${sanitizers:+-fsanitize=$sanitizers}
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

cmake --install "$build" --prefix "$prefix" >"$prefix/install.log"

# A header is installed because a public one reaches it, and is complete: with nothing but the prefix and the system
# to include from, it compiles alone.
include="$prefix/include"
(cd "$include" && find tidemill -name '*.hpp' | sort) >"$prefix/installed"
printf '#include "%s"\n' "$@" >"$prefix/public.cpp"
"$compiler" -std=c++20 -MM "-I$include" "$prefix/public.cpp" | tr -s '\\ ' '\n' |
    sed -n "s,^$include/,,p" | sort -u >"$prefix/reached"
diff "$prefix/installed" "$prefix/reached"
count=$(wc -l <"$prefix/installed")
printf '%d headers installed\n' "$count"
[ "$count" -le 80 ] || { printf "at most 80 are to be installed: keep what users do not name out of them\n"; exit 1; }
sed "s,^,$include/," "$prefix/installed" |
    xargs -P "$(nproc)" -n 8 "$compiler" -std=c++20 -fsyntax-only -x c++ "-I$include"

# Names that are not for users do not meet theirs.
{
    cat "$prefix/public.cpp"
    echo 'using namespace tidemill;'
    for name in Source Place Address Base Step Part Copy Kernel Model Unit; do
        printf 'struct %s {};\n%s of_%s;\n' "$name" "$name" "$name"
    done
} >"$prefix/names.cpp"
"$compiler" -std=c++20 -fsyntax-only "-I$include" "$prefix/names.cpp"

cp -r "$source/examples/template" "$prefix/project"
cmake -S "$prefix/project" -B "$prefix/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" \
    "-DCMAKE_CXX_COMPILER=$compiler" "-DCMAKE_CXX_FLAGS=$flags" >"$prefix/configure.log"
cmake --build "$prefix/build" >"$prefix/build.log" || { cat "$prefix/build.log"; exit 1; }
ctest --test-dir "$prefix/build" --output-on-failure
"$prefix/build/my-chain" run --executor sequence --frames 100 --amplitude 3 | tee "$prefix/run.log"
grep -q '^level      6.53 dB$' "$prefix/run.log"  # 20 log10(3) of a sine, whose mean square is 1/2
"$prefix/bin/tidemill" --version
zgrep -q '^\.SH EXIT STATUS$' "$prefix/share/man/man1/tidemill.1.gz"

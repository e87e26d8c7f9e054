#!/usr/bin/env bash
# Installs a build under a temporary prefix, and sees whether a stranger's project can live on that alone.
# usage: install_test.sh SOURCE_FOLDER BUILD_FOLDER COMPILER [SANITIZERS]
set -euo pipefail
source=$1 build=$2 compiler=$3 sanitizers=${4:-}
flags=${sanitizers:+-fsanitize=$sanitizers}
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

cmake --install "$build" --prefix "$prefix" >"$prefix/install.log"

# Each public header, with nothing but the prefix and the system to include from.
(cd "$prefix/include" && find tidemill -name '*.hpp' ! -path '*/internal/*' -printf '#include "%p"\n') |
    sort >"$prefix/headers.cpp"
"$compiler" -std=c++20 -fsyntax-only "-I$prefix/include" "$prefix/headers.cpp"

cp -r "$source/examples/template" "$prefix/project"
cmake -S "$prefix/project" -B "$prefix/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" \
    "-DCMAKE_CXX_COMPILER=$compiler" "-DCMAKE_CXX_FLAGS=$flags" >"$prefix/configure.log"
cmake --build "$prefix/build" >"$prefix/build.log" || { cat "$prefix/build.log"; exit 1; }
ctest --test-dir "$prefix/build" --output-on-failure
"$prefix/build/my-chain" run --executor sequence --frames 100 --amplitude 3 | tee "$prefix/run.log"
grep -q '^level      6.53 dB$' "$prefix/run.log"  # 20 log10(3) of a sine, whose mean square is 1/2
"$prefix/bin/tidemill" --version

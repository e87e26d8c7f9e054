#!/usr/bin/env bash
# Assembles the PTX of every kernel for the GPUs that it is meant for, and fails where registers spill. Prints how many
# each kernel uses. Needs ptxas, of CUDA or of the Python package nvidia-cuda-nvcc-cu12; skips without.
# usage: check_ptx.sh BUILD_FOLDER
set -euo pipefail
build=$1

ptxas=$(command -v ptxas || python3 -c 'import nvidia.cuda_nvcc as n; print(n.__path__[0] + "/bin/ptxas")' 2>/dev/null) ||
    { printf 'Skipped: no ptxas (pip install nvidia-cuda-nvcc-cu12, or CUDA)\n'; exit 0; }
mapfile -t files < <(find "$build" -name '*_70.ptx' -o -name '*_80.ptx' | sort)
[ ${#files[@]} != 0 ] || { printf 'Skipped: no PTX in %s (it takes clang-19 and libclc-19)\n' "$build"; exit 0; }

failed=0
for file in "${files[@]}"; do
    architectures="80 90 120"
    [[ $file != *_70.ptx ]] || architectures=75
    for architecture in $architectures; do
        report=$("$ptxas" -v "-arch=sm_$architecture" "$file" -o /dev/null 2>&1) ||
            { printf '%s, sm_%s: %s\n' "$file" "$architecture" "$report"; failed=1; continue; }
        registers=$(grep -oE 'Used [0-9]+ registers' <<<"$report")
        printf '%s, sm_%s: %s\n' "$(basename "$file")" "$architecture" "$registers"
        ! grep -qE '[1-9][0-9]* bytes spill' <<<"$report" || { printf '%s: it spills\n' "$file"; failed=1; }
    done
done
exit $failed

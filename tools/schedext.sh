#!/usr/bin/env bash
# ./x schedext: the scheduler of schedext/ in a kernel that has sched_ext, under QEMU, on a machine with a big and a little
# CPU. What it takes comes from Debian and stays under build/schedext; nothing of it is installed here. Where something
# cannot be had, that is said, and is no failure. Takes the packages of this machine that must be installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

into=$PWD/build/schedext
host_packages="$*"
libraries="libelf-dev zlib1g-dev busybox-static"
newer_libraries="libbpf-dev"
console=$into/console.log

skip() {
    printf 'Skipped: %s\n' "$*"
    exit 0
}

# apt with lists and a cache of its own, of one suite, for arm64: the system's own sources stay as they are.
apt_of() { # SUITE COMMAND ARGUMENT...
    local suite="$1" own="$into/apt/$1" tool="$2"
    shift 2
    "$tool" -q -o Dir::Etc::SourceList="$own/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$own/lists" -o Dir::Cache="$own" -o APT::Architecture=arm64 \
        -o APT::Architectures::=arm64 "$@"
}

# Opens a suite of the mirror that this machine's packages come from.
open_suite() { # SUITE
    local own="$into/apt/$1"
    mkdir -p "$own/lists/partial" "$own/archives/partial" "$into/packages"
    printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$mirror" "$1" >"$own/sources.list"
    apt_of "$1" apt-get update
}

download() { # SUITE PACKAGE...
    local suite="$1"
    shift
    (cd "$into/apt/$suite/archives" && apt_of "$suite" apt-get download "$@")
}

unpack() { # SUITE FOLDER
    local package
    for package in "$into/apt/$1"/archives/*.deb; do dpkg -x "$package" "$2" || return; done
}

get_libraries() {
    local codename="$1"
    # shellcheck disable=SC2086 # lists of words
    open_suite "$codename" && download "$codename" $libraries && unpack "$codename" "$into/packages" &&
        open_suite "$codename-backports" && download "$codename-backports" $newer_libraries &&
        unpack "$codename-backports" "$into/packages"
}

kernel_image() { find "$into/kernel" -name 'vmlinuz*' -type f; } # below boot or below usr/lib/modules

# The newest kernel that is offered and has sched_ext. Old versions vanish, and newer ones need not come along.
get_kernel() {
    local suite=trixie-backports name
    open_suite "$suite" || return
    for name in $(apt_of "$suite" apt-cache pkgnames linux-binary | grep -E '^linux-binary-[0-9.]+\+deb13-arm64$' |
        sort -rV | head -n 5); do
        rm -rf "$into/apt/$suite"/archives/*.deb "$into/kernel"
        download "$suite" "$name" && unpack "$suite" "$into/kernel" &&
            grep -qa sched_ext_ops "$(kernel_image)" && return
    done
    return 1
}

get_packages() {
    local codename
    codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    # shellcheck disable=SC2016 # apt's own words
    mirror=$(apt-get indextargets --no-release-info --format '$(REPO_URI)' 'Created-By: Packages' \
        "Release: $codename" | head -n 1)
    [ -n "$mirror" ] && get_libraries "$codename" && get_kernel && touch "$into/complete"
}

check_host() {
    local package missing=""
    command -v apt-get >/dev/null || skip "there is no apt-get to get a kernel and libraries for arm64 with"
    grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release || skip "this is not Debian 12"
    for package in $host_packages; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=" $package"
    done
    [ -z "$missing" ] || skip "these packages are missing:$missing"
}

build() {
    local launcher=()
    ! command -v ccache >/dev/null || launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    cmake -S schedext -B "$into/agent" -G Ninja "${launcher[@]}" -DCMAKE_SYSTEM_NAME=Linux \
        -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
        -DCMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu -DCMAKE_EXE_LINKER_FLAGS=-static \
        "-DTIDEMILL_SCHEDEXT_PACKAGES=$into/packages" && cmake --build "$into/agent"
}

# The limit is for a machine that has much else to do: alone, a guest is done in two minutes.
qemu() { # OPTION...
    timeout -k 5 480 nice -n 5 qemu-system-aarch64 -cpu cortex-a76 -smp 2 -m 512 -nographic -net none -no-reboot "$@"
}

# Two clusters of one CPU each, of which the second can do 446/1024 of the first: the capacities of a Cortex-A76 and A55.
make_device_tree() {
    local tree=$into/board.dtb map=/cpus/cpu-map/socket0 little
    qemu -M "virt,dumpdtb=$tree"
    fdtput -t i "$tree" /cpus/cpu@0 capacity-dmips-mhz 1024
    fdtput -t i "$tree" /cpus/cpu@1 capacity-dmips-mhz 446
    little=$(fdtget -t x "$tree" /cpus/cpu@1 phandle)
    fdtput -r "$tree" "$map/cluster0/core1"
    fdtput -p -t x "$tree" "$map/cluster1/core0" cpu "$little"
}

make_guest() {
    local root=$into/root
    rm -rf "$root"
    mkdir -p "$root"/{bin,dev,etc,proc,sys}
    cp "$into/packages/bin/busybox" "$into"/agent/{schedext-agent,three-threads,obeys} "$root/bin/"
    cp "$into"/agent/*.bpf.o schedext/trial/factors.json "$root/"
    install -m 755 schedext/trial/guest.sh "$root/init"
    printf 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$root/etc/passwd"
    local tool
    for tool in sh mount cat cut seq sleep tr grep uname kill su poweroff; do ln -s busybox "$root/bin/$tool"; done
    (cd "$root" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$into/guest.gz"
}

prepare_machine() { make_device_tree && make_guest; }

boot() {
    qemu -M virt -kernel "${TIDEMILL_SCHEDEXT_KERNEL:-$(kernel_image)}" -initrd "$into/guest.gz" \
        -dtb "$into/board.dtb" -append "console=ttyAMA0 quiet panic=-1" | tr -d '\r' >"$console"
}

logged() { # NAME TEXT COMMAND...
    local log="$into/$1.log" start=$SECONDS
    printf '%s ... ' "$2"
    shift 2
    "$@" </dev/null >"$log" 2>&1 || { printf 'failed\n'; return 1; }
    printf '%d s\n' $((SECONDS - start))
} >&2

mkdir -p "$into"
check_host
[ -e "$into/complete" ] || logged apt "Getting a kernel and libraries for arm64" get_packages ||
    skip "no kernel with sched_ext, or no libraries for arm64, could be had: build/schedext/apt.log says why"
logged build "Building the scheduler and its agent" build || { tail -n 40 "$into/build.log"; exit 1; }
logged machine "Making the guest" prepare_machine || { tail -n 40 "$into/machine.log"; exit 1; }
logged boot "Booting it" boot || { tail -n 40 "$console" "$into/boot.log"; exit 1; }
tools/schedext_verdict.awk "$console"

#!/usr/bin/env bash
# Installs the Debian packages and the wheel of dist/ in a bare system, a copy of what debootstrap has made in
# build/bare-base, and lives on them there: the program receives the demo, by the commands of Containerfile's last stage; so
# does the wheel's, without a compiler; a program in C is built and receives the same, and one in C++ is built by CMake. An
# older version is upgraded, and what is removed leaves nothing. Where there is no debootstrap, no root or no mirror, that is
# said, and is no failure.
set -eEuo pipefail
trap 'printf "line %d failed: %s\n" "$LINENO" "$BASH_COMMAND"' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/.."
base=$PWD/build/bare-base bare=$PWD/build/bare

skip() {
    printf 'Skipped: %s\n' "$*"
    exit 0
}

# The mirror that this machine's packages come from.
# shellcheck disable=SC2016 # apt's own words
mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | sort -u | head -n 1
}

make_base() {
    local codename
    codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    rm -rf "$base"
    debootstrap --variant=minbase "$codename" "$base" "$(mirror)" >build/debootstrap.log 2>&1 ||
        skip "no bare system can be made: build/debootstrap.log says why"
    cp /etc/apt/apt.conf.d/*proxy* "$base/etc/apt/apt.conf.d/" 2>/dev/null || true
    cp /etc/resolv.conf "$base/etc/" 2>/dev/null || true
    touch "$base/made"
}

# As bare as at first: a run before has left a compiler, and /proc where it was killed.
copy_base() {
    ! mountpoint -q "$bare/proc" || umount "$bare/proc"
    rm -rf "$bare"
    cp -a "$base" "$bare"
    # Without it a program does not know where it lies, and so not where its libraries are.
    mount -t proc proc "$bare/proc" || skip "/proc cannot be mounted in a bare system"
}

# Files of programs in a user's home are the user's.
inside() { chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/test DEBIAN_FRONTEND=noninteractive "$@"; }

apt_inside() { # COMMAND...
    inside apt-get "$1" -y -q "${@:2}" >>build/bare-install.log 2>&1 || { tail -n 20 build/bare-install.log; return 1; }
}

install_debs() { # FOLDER NAME...
    local name debs=()
    for name in "${@:2}"; do debs+=("/$1/$(basename "$(ls dist/"$name"_*.deb)")"); done
    apt_inside install --no-install-recommends "${debs[@]}"
}

# The packages as a version before them, which had a file more.
make_older() { # NAME...
    local name folder
    mkdir -p "$bare/older"
    for name; do
        folder=$(mktemp -d)
        dpkg-deb -R dist/"$name"_*.deb "$folder"
        sed -i -e 's/^Version: .*/Version: 0.0.1/' -e 's/libtidemill0 (= [0-9.]*)/libtidemill0 (= 0.0.1)/' "$folder/DEBIAN/control"
        touch "$folder/usr/share/doc/$name/only-once"
        dpkg-deb --root-owner-group -b "$folder" "$bare/older/$(basename "$(ls dist/"$name"_*.deb)")" >/dev/null
        rm -rf "$folder"
    done
}

check_upgrade() { # NAME...
    local name
    make_older "$@"
    install_debs older "$@"
    for name; do test -e "$bare/usr/share/doc/$name/only-once"; done
    install_debs dist "$@"
    for name; do
        # shellcheck disable=SC2016 # dpkg's own words
        [ "$(inside dpkg-query -W -f '${Version}' "$name")" = "$(dpkg-deb -f dist/"$name"_*.deb Version)" ]
        test ! -e "$bare/usr/share/doc/$name/only-once"
    done
    printf 'an older version is upgraded: %s\n' "$*"
}

purge_all() {
    local names
    # shellcheck disable=SC2016 # dpkg's own words
    names=$(inside dpkg-query -W -f '${db:Status-Status} ${Package}\n' '*tidemill*' 2>/dev/null |
        sed -n 's/^\(installed\|config-files\) //p')
    # shellcheck disable=SC2086 # a list of words
    apt_inside purge $names
}

# Names of the project anywhere but where this script has put them.
nothing_left() {
    local left
    left=$(inside find / -xdev \( -path /dist -o -path /older -o -path /packages -o -path /test -o -path /wheels -o -path /proc \) \
        -prune -o -name '*tidemill*' -print)
    [ -z "$left" ] || { printf 'left when all was removed: %s\n' "$left"; return 1; }
}

command -v debootstrap >/dev/null || skip "there is no debootstrap"
[ "$(id -u)" = 0 ] || skip "a bare system takes root"
ls dist/tidemill_*.deb >/dev/null 2>&1 || { echo 'There are no packages in dist: ./x package makes them'; exit 1; }
[ -e "$base/made" ] || make_base
copy_base
trap 'umount "$bare/proc"' EXIT
: >build/bare-install.log
mkdir "$bare/dist" "$bare/test"
cp dist/*.deb "$bare/dist/"
cp -r data/demo.sigmf-* examples/receive.c examples/template "$bare/test/"

# Repeats the last steps of Containerfile, with the packages where it copies them to.
as_in_a_container() {
    mkdir -p "$bare/packages"
    cp dist/tidemill_*.deb "$bare/packages/"
    sed -n '/^FROM.*slim/,$ p' Containerfile | sed -n '/^RUN /,/[^\\]$/ p' | sed 's/^RUN //' >"$bare/test/stage.sh"
    inside sh -e /test/stage.sh >build/bare-container.log 2>&1 || { tail -n 20 build/bare-container.log; return 1; }
    inside apt-get update -q >>build/bare-install.log 2>&1
}

# pip has no network in there, so what the wheel needs comes along.
live_on_wheel() { # WHEEL
    local needed="$bare/wheels"
    apt_inside install --no-install-recommends python3-venv
    python3 -m pip download -q --disable-pip-version-check --only-binary :all: --python-version 3.11 -d "$needed" \
        "$1" matplotlib || { printf 'Skipped: pip cannot get what the wheel needs\n'; return 0; }
    inside sh -ec '! command -v cc && python3 -m venv /venv && cd /test &&
        /venv/bin/pip install -q --no-index --find-links /wheels tidemill matplotlib &&
        /venv/bin/tidemill dvbs2 rx demo.sigmf-meta -o wheel.ts --executor sequence >/dev/null 2>&1 && cmp video.ts wheel.ts &&
        /venv/bin/python -m tidemill.demo >/dev/null'
    inside sh -ec '/venv/bin/pip uninstall -q -y tidemill && ! find /venv -name "*tidemill*" | grep .'
    printf 'the wheel: program and module work without a compiler, and uninstalling leaves nothing\n'
}

as_in_a_container
inside tidemill dvbs2 rx /test/demo.sigmf-meta -o /test/video.ts --executor sequence --json >build/bare-rx.json 2>/dev/null
printf 'received: %s packets\n' "$(($(stat -c %s "$bare/test/video.ts") / 188))"
inside test -s /usr/share/man/man1/tidemill.1.gz
inside tidemill --licences | sed -n 1p

wheel=$(ls dist/tidemill-*-cp311-*.whl 2>/dev/null || true)
if [ -n "$wheel" ]; then live_on_wheel "$wheel"; else printf 'Skipped: there is no wheel for Python 3.11\n'; fi

if ls dist/soapysdr0.8-module-tidemill_*.deb >/dev/null 2>&1; then
    install_debs dist soapysdr0.8-module-tidemill
    inside tidemill radio driver=loopback --json | grep -q '"driver=loopback' && printf 'radio: the loopback is found\n'
fi

check_upgrade libtidemill0 libtidemill-dev
apt_inside install --no-install-recommends g++ cmake make
# shellcheck disable=SC2016 # the inner shell's
inside sh -ec 'cd /test && cc -std=c99 receive.c -o receive $(pkg-config --cflags --libs tidemill) &&
    tidemill dvbs2 tx --random 1000 --symbol-rate 1e6 -o samples.cf32 2>/dev/null &&
    tidemill dvbs2 rx samples.cf32 --sample-rate 2e6 -o rx.ts >/dev/null 2>&1 && ./receive samples.cf32 2e6 c.ts && cmp rx.ts c.ts'
inside sh -ec 'cd /test/template && rm -rf build && cmake -B build >/dev/null && cmake --build build >/dev/null && ctest --test-dir build -Q &&
    build/my-chain run --executor sequence --frames 100 >/dev/null 2>&1 && printf "a project in C++ finds it by find_package\n"'
purge_all
nothing_left
printf 'The packages were installed, used, and removed without a trace in a bare system\n'

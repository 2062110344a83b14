#!/bin/sh
# Installs the packages that a part of the work needs and that are not there yet.
# usage: sh packaging/deps.sh GROUP...   with GROUP of build, samples, tests, slow, unit, bench, browser, ccache, ci, lint,
# musl, packages
set -eu

die() {
    echo "deps.sh: $*" >&2
    exit 1
}

# `a|b`: either will do, the first is installed.
debian_packages() {
    case $1 in
    build) echo 'gcc libc6-dev meson pkgconf|pkg-config libdw-dev libelf-dev libiberty-dev libpcre2-dev zlib1g-dev' \
        'liblzma-dev libzstd-dev libdeflate-dev libdebuginfod-dev libgraphviz-dev libfontconfig-dev libcapstone-dev libedit-dev' ;;
    # fiddle, json and objspace are part of libruby
    samples) echo 'gcc libc6-dev make libjemalloc2 ruby ruby-dev ruby-nokogiri puma' ;;
    # file: without it jeprof leaves out inlined functions
    tests) debian_packages samples && echo 'g++ libcmocka-dev binutils elfutils libjemalloc-dev perl file strace' \
        'dwz xz-utils debuginfod jq python3 golang-go zstd libxml2-utils poppler-utils fonts-dejavu-core graphviz' \
        'curl valgrind unicorn gfortran mandoc zsh fish ruby-sinatra ruby-sidekiq ruby-actionpack ruby-activejob python3-yaml' ;;
    # what of the tests that are not in the gate needs more: the guide's Rails application
    slow) echo 'ruby-rails bundler' ;;
    bench) echo 'libjemalloc2 libjemalloc-dev perl file binutils ruby ruby-nokogiri valgrind python3 gcc libc6-dev' ;;
    # opens the pictures and what other viewers are given; large, so nobody gets it unasked
    browser) echo 'chromium nodejs' ;;
    npm) echo 'npm' ;;
    ci) echo 'debootstrap git python3' ;;
    # the tests of functions and formats
    unit) echo 'binutils file g++ libcmocka-dev libjemalloc2 libjemalloc-dev perl python3' ;;
    ccache) echo 'ccache' ;;
    # what .ci/check needs besides
    lint) echo 'clang clang-format' ;;
    fuzz) echo 'clang libclang-rt-dev' ;;
    # debian/
    packages) echo 'build-essential debhelper dpkg-dev lintian git' ;;
    # gcc 11's unwinder is the last that does without a function of glibc's
    musl) echo 'musl-tools libgcc-11-dev linux-libc-dev bison flex m4 dpkg-dev make gcc pkgconf|pkg-config meson' \
        'debian-archive-keyring' ;;
    # jprof-static for aarch64
    cross) debian_packages musl && echo 'g++-aarch64-linux-gnu libgcc-11-dev-arm64-cross' ;;
    *) die "no group '$1'; give build, samples, tests, slow, unit, bench, browser, ccache, ci, npm, lint, fuzz, musl, cross or packages" ;;
    esac
}

# Alpine's jemalloc is built without profiling: what profiles has to bring its own.
alpine_packages() {
    case $1 in
    build) echo 'gcc musl-dev meson pkgconf elfutils-dev binutils-dev pcre2-dev zlib-dev xz-dev zstd-dev libdeflate-dev' \
        'graphviz-dev fontconfig-dev capstone-dev libedit-dev' ;;
    samples) echo 'gcc musl-dev make jemalloc ruby-full ruby-dev ruby-nokogiri' ;;
    tests) alpine_packages samples && echo 'g++ cmocka-dev binutils elfutils jemalloc-dev perl file strace xz go' \
        'zstd graphviz font-dejavu poppler-utils libxml2-utils jq python3 mandoc bash zsh fish' ;;
    slow) ;;
    bench) echo 'jemalloc jemalloc-dev perl binutils ruby ruby-nokogiri valgrind' ;;
    browser) echo 'chromium nodejs' ;;
    npm) echo 'npm' ;;
    ci) echo 'debootstrap git python3' ;;
    unit) echo 'binutils file g++ cmocka-dev jemalloc jemalloc-dev perl python3' ;;
    ccache) echo 'ccache' ;;
    lint) echo 'clang clang-extra-tools' ;;
    *) die "no group '$1'; give build, samples, tests, slow, unit, bench, browser, ccache, ci, npm, lint, musl or packages" ;;
    esac
}

debian_installed() {
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p'
}

alpine_installed() {
    apk info -q
}

debian_install() {
    # A dead third-party source fails the update, yet need not stop the install.
    $become apt-get -qq update || true
    $become env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 install "$@" >/dev/null
}

alpine_install() {
    $become apk add -q --no-cache "$@"
}

# Names in "$2" of which no alternative is in "$1".
missing_of() {
    have=" $(echo $1) "
    for need in $2; do
        found=
        for name in $(echo "$need" | tr '|' ' '); do
            case $have in *" $name "*) found=$name ;; esac
        done
        if [ -z "$found" ]; then
            have="$have$need "
            echo "${need%%|*}"
        fi
    done
}

# Sets $become to what runs a command as root.
find_root() {
    become=
    if [ "$(id -u)" -eq 0 ]; then return; fi
    for tool in doas sudo; do
        if command -v $tool >/dev/null; then become=$tool; fi
    done
    [ -n "$become" ] || die "not root, and no sudo or doas here; as root install: $*"
    # Without a terminal nobody can type a password.
    if ! [ -t 0 ]; then become="$become -n"; fi
    $become true || die "'$become' was refused; as root install: $*"
}

[ $# -gt 0 ] || die "usage: sh packaging/deps.sh GROUP...   (build, samples, tests, unit, bench, browser, ccache, ci, npm, lint, musl, cross, packages)"

if command -v apt-get >/dev/null; then
    system=debian
elif command -v apk >/dev/null; then
    system=alpine
else
    die "neither apt-get nor apk here; install what Debian calls:" \
        $(for group; do debian_packages "$group"; done)
fi

needs=$(for group; do ${system}_packages "$group"; done)
missing=$(missing_of "$(${system}_installed)" "$needs")
[ -n "$missing" ] || exit 0

find_root $missing
echo "installing:" $missing
${system}_install $missing || { sleep 5 && ${system}_install $missing; } ||
    die "could not install all of:" $missing "(the reason is above); mend it and run this again"

#!/bin/sh
# Builds what jprof and its tests need for musl, from Debian's source packages, into the folder FINAL.
# usage: sh build.sh CACHE FINAL MACHINE
# CACHE keeps the sources; apt gets its own lists there, the system's are not touched. Logs are in
# CACHE/musl-work while this runs and in FINAL/logs afterwards.
set -eu

packages='capstone zlib xz-utils libzstd elfutils pcre2 cmocka graphviz libiberty jemalloc'
suite=bookworm
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

die() {
    echo "musl sysroot: $*" >&2
    exit 1
}

# Of the system's settings only the way to the network holds here.
fetch() {
    apt=$cache/musl-apt
    mkdir -p "$apt/etc" "$apt/state/lists/partial" "$apt/cache/archives/partial" "$sources"
    echo "deb-src [signed-by=$keyring] http://deb.debian.org/debian $suite main" >"$apt/etc/sources.list"
    {
        apt-config dump | sed -En '/^Acquire::(https?::Proxy[ :]|Check-)/p'
        printf '%s "%s";\n' Dir::Etc "$apt/etc" Dir::Etc::parts /dev/null Dir::State "$apt/state" \
            Dir::State::status /dev/null Dir::Cache "$apt/cache" APT::Sandbox::User root \
            Acquire::Languages none Acquire::Retries 3
    } >"$apt/apt.conf"
    cd "$sources"
    # shellcheck disable=SC2086
    if ! {
        APT_CONFIG=$apt/apt.conf apt-get -q update && rm -f ./*.dsc &&
            APT_CONFIG=$apt/apt.conf apt-get -q source --download-only $packages
    } >"$work/fetch.log" 2>&1; then
        tail -n 10 "$work/fetch.log" >&2
        die "cannot fetch the sources; the whole log is $work/fetch.log; see to the network and run this again"
    fi
    cd /
}

# NAME SOURCE VERSION COPYRIGHT: what `parts` keeps of a part: source package and version, and the notices that go with each copy of it.
keep_part() {
    echo "$2 $3" >"$into/parts/$1.source"
    cp "$4" "$into/parts/$1.copyright"
}

# The parts of what is linked with this sysroot: Debian's sources, and the compiler's and musl's own code.
keep_parts() {
    mkdir "$into/parts"
    for debian in "$work"/*/debian; do
        part=${debian%/debian}
        keep_part "${part##*/}" "$(dpkg-parsechangelog -l "$debian/changelog" -S Source)" \
            "$(dpkg-parsechangelog -l "$debian/changelog" -S Version)" "$debian/copyright"
    done
    for package in $compilers; do
        # shellcheck disable=SC2046
        keep_part "${package%:*}" $(dpkg-query -W -f '${source:Package} ${source:Version}' "${package#*:}") \
            "/usr/share/doc/${package#*:}/copyright"
    done
}

# What only building needed goes; what names the folder gets to name its own place.
finish() {
    keep_parts
    rm -rf "$into/share" "$into/etc" "$into"/lib/*.la
    find "$into/bin" -type f ! -name musl-cc -exec rm {} +
    # shellcheck disable=SC2016
    sed -i "s|$into|"'${pcfiledir}/../..|g' "$into"/lib/pkgconfig/*.pc
    if [ -f "$into/lib/musl-gcc.specs" ]; then sed -i "s|$into|$final|g" "$into/lib/musl-gcc.specs"; fi
    mkdir "$into/logs"
    mv "$work"/*.log "$into/logs"
    mv "$into" "$final"
    rm -rf "$work"
}

[ $# -eq 3 ] || die "usage: sh build.sh CACHE FINAL MACHINE"
cache=$1
final=$2
machine=$3
compilers='musl:musl-dev libgcc:libgcc-11-dev'
if [ "$machine" != "$(uname -m)" ]; then # its musl is made here, too
    packages="musl $packages"
    compilers='libgcc:libgcc-11-dev-arm64-cross'
fi
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
into=$final.new
work=$cache/musl-work
sources=$cache/musl-sources
export here into work sources machine

start=$(date +%s)
rm -rf "$into" "$work"
mkdir -p "$into" "$work"
echo "musl sysroot: fetching sources"
fetch
sh "$here/tools.sh" "$into" "$machine"
echo "musl sysroot: building with $(nproc) jobs"
if [ "$machine" != "$(uname -m)" ]; then sh "$here/parts.sh" musl; fi
make -j "$(nproc)" --no-print-directory -f "$here/sysroot.mk" ||
    die "not complete; the logs are in $work"
finish
echo "musl sysroot: complete after $(($(date +%s) - start)) s"

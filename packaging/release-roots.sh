#!/bin/sh
# What of a release runs where: in bare systems, with the release's folder alone, each way to install and then, as a user without rights, the
# way to the line that leaks, in three commands together; and where only reading is possible, reading. Prints the tables of
# docs/internals/measurements.md; what is not as it should be ends it.
# usage: sh packaging/release-roots.sh RELEASE ROOTS [MUSL_RUBY]    as root on Debian with debootstrap, busybox-static and musl
# ROOTS: a folder that keeps the bare systems for the next time. MUSL_RUBY: of tests/musl/ruby.sh; without it nothing of musl.
set -eu

die() {
    echo "release-roots.sh: $*" >&2
    for file in "$work/home/install.log" "$work/home/said" "$work/home/out"; do [ ! -s "$file" ] || head -n 5 "$file" >&2; done
    exit 1
}

# All mounts and processes end with a namespace of their own.
if [ "${1:-}" != --inside ]; then
    work=$(mktemp -d)
    [ $# -ge 2 ] || die "usage: sh packaging/release-roots.sh RELEASE ROOTS [MUSL_RUBY]"
    trap 'rm -rf --one-file-system "$work"' EXIT
    mkdir -p "$2"
    unshare --mount --pid --fork --kill-child --mount-proc sh "$0" --inside "$work" "$@"
    exit
fi
work=$2 release=$(realpath "$3") roots=$(realpath "$4") musl_ruby=${5:-}
machine=$(uname -m)
mount -t tmpfs -o mode=755 tmpfs "$work"
mkdir "$work/home"

# ---- bare systems ---------------------------------------------------------------------------------------------------

bare_debian() { # SUITE
    rm -rf --one-file-system "$roots/$1.part"
    mkdir -p "$roots/$1.part/etc/dpkg/dpkg.cfg.d"
    echo force-unsafe-io >"$roots/$1.part/etc/dpkg/dpkg.cfg.d/throw-away"
    debootstrap --variant=minbase "$1" "$roots/$1.part" http://deb.debian.org/debian >"$roots/$1.log" 2>&1 || die "debootstrap $1: $roots/$1.log"
    echo "deb http://deb.debian.org/debian $1 main" >"$roots/$1.part/etc/apt/sources.list"
    apt-config dump | sed -En '/^Acquire::(https?::Proxy[ :]|Check-)/p' >"$roots/$1.part/etc/apt/apt.conf.d/00host"
    cp /etc/resolv.conf "$roots/$1.part/etc"
    mv "$roots/$1.part" "$roots/$1"
}

# busybox and musl's loader, and a Ruby with its libraries, each in its own place, as far as Alpine's image has them.
bare_musl() {
    rm -rf --one-file-system "$roots/musl"
    mkdir -p "$roots/musl/bin" "$roots/musl/lib" "$roots/musl/dev" "$roots/musl/etc" "$roots/musl/usr/bin" "$roots/musl/usr/local/lib"
    cp "$(command -v busybox)" "$roots/musl/bin"
    chroot "$roots/musl" /bin/busybox --install -s /bin
    ln -s /bin/env "$roots/musl/usr/bin/env"
    mknod -m 666 "$roots/musl/dev/null" c 1 3
    cp -L "/lib/ld-musl-$machine.so.1" "$roots/musl/lib"
    for file in "$musl_ruby" $("/lib/ld-musl-$machine.so.1" --list "$musl_ruby/bin/ruby" | awk -v own="$musl_ruby/" '$2 == "=>" && $3 !~ /ld-musl/ && index($3, own) != 1 { print $3 }'); do
        mkdir -p "$roots/musl${file%/*}"
        cp -R -L "$file" "$roots/musl${file%/*}"
    done
    cp -L "$(readelf -d "$musl_ruby/bin/ruby" | sed -n 's/.*runpath: \[.*:\(.*\)\]/\1/p')/libjemalloc.so.2" "$roots/musl/usr/local/lib"
    # That Ruby has no OpenSSL, of which `gem` wants one function.
    echo 'require "digest"; module OpenSSL; module Digest; def self.new(name) = ::Digest.const_get(name).new; end; end' \
        >"$roots/musl$("$musl_ruby/bin/ruby" -e 'print RbConfig::CONFIG["sitelibdir"]')/openssl.rb"
}

# A copy of a bare system that nobody has used, in $work/NAME: /release, and /home/newcomer, which is the same folder in all.
fresh() { # NAME
    mkdir -p "$work/$1" "$work/$1.up/upper" "$work/$1.up/work"
    mount -t overlay -o "lowerdir=$roots/$1,upperdir=$work/$1.up/upper,workdir=$work/$1.up/work" overlay "$work/$1"
    mkdir -p "$work/$1/proc" "$work/$1/tmp" "$work/$1/release" "$work/$1/home/newcomer"
    chmod 1777 "$work/$1/tmp"
    mount -t proc proc "$work/$1/proc"
    mount --bind -o ro "$release" "$work/$1/release"
    mount --bind "$work/home" "$work/$1/home/newcomer"
}
away() { # NAME
    umount "$work/$1/proc" "$work/$1/release" "$work/$1/home/newcomer" "$work/$1"
    rm -rf --one-file-system "$work/$1.up"
}
clean_home() {
    find "$work/home" -mindepth 1 -delete
    cp "$work/leak.rb" "$work/home"
    chown -R 1000:1000 "$work/home"
}

as() { # USER NAME COMMAND
    chroot "--userspec=$1" "$work/$2" /bin/env -i HOME=/home/newcomer LC_ALL=C.UTF-8 PATH="$path" /bin/sh -euc "cd; $3"
}
user() { as 1000:1000 "$@"; }

# ---- three commands -------------------------------------------------------------------------------------------------

cat >"$work/leak.rb" <<'END'
KEPT = []
def remember(number)
  KEPT << "x" * 100_000
end
220.times { |number| remember(number); Array.new(200) { |i| i.to_s * 50 }; sleep 0.05 }
END
names_line() { sed -n '/^1 /{p;q}' "$1" | grep -q ' leak.rb:3 Object#remember$'; }

# COMMAND in NAME; its seconds in $took.
timed() { # WHO NAME COMMAND LOG
    begin=$(date +%s%N)
    as "$1" "$2" "$3" >"$work/home/$4" 2>&1 || die "$2: $3: exit status $?"
    took=$(awk "BEGIN { printf \"%.1f\", ($(date +%s%N) - $begin) / 1e9 }")
}

run='JPROF_AGENT=every=3s jprof run --dir=dumps -- ruby leak.rb' diff='jprof diff dumps/*.heap'
leak() { # TITLE NAME WAY WHO INSTALL
    path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin${musl_ruby:+:$musl_ruby/bin}
    timed "$4" "$2" "$5" install.log
    installed=$took path=/home/newcomer/.local/bin:$path
    if [ "$3" = gem ]; then path=$(user "$2" "ruby -e 'print Gem.user_dir'")/bin:$path; fi
    user "$2" "$run" >"$work/home/said" 2>&1 || die "$2, $3: $run"
    timed 1000:1000 "$2" "$diff" out
    names_line "$work/home/out" || die "$2, $3: the first block of $diff is not leak.rb:3"
    echo "| $1 | $(user "$2" "ruby -e 'print RUBY_VERSION'") | $3 | $installed | $took | \`$(sed -n '/^1 /{s/  */ /gp;q}' "$work/home/out")\` |"
    [ -f "$work/made.1" ] || made_elsewhere "$2"
}

# Bundles for others to read.
made_elsewhere() { # NAME
    number=0
    for dump in "$work"/home/dumps/*.heap; do
        number=$((number + 1))
        user "$1" "jprof bundle -o made.$number.jprof dumps/${dump##*/}" >"$work/home/said" 2>&1 || die "jprof bundle"
        mv "$work/home/made.$number.jprof" "$work/made.$number"
    done
}

static="mkdir -p ~/.local && tar -xzf /release/jprof-*-$machine-linux.tar.gz -C ~/.local --strip-components=1"
gem="gem install --local --user-install /release/jprof-*-$machine-linux.gem"
apt='apt-get -qq -y --no-install-recommends -o Acquire::Languages=none'

ways_of_debian() { # VERSION SUITE
    fresh "$2"
    path=/usr/sbin:/usr/bin:/sbin:/bin
    clean_home
    as 0:0 "$2" "export DEBIAN_FRONTEND=noninteractive; apt-get -qq update && $apt install ruby libjemalloc2" >"$work/home/install.log" 2>&1 ||
        die "no Ruby in Debian $1"
    leak "Debian $1" "$2" static 1000:1000 "$static"
    clean_home
    leak "Debian $1" "$2" gem 1000:1000 "$gem"
    clean_home
    leak "Debian $1" "$2" package 0:0 "cd /release && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install ./jprof*+deb$1_*.deb ./libjprof0_*+deb$1_*.deb"
    away "$2"
}

# ---- only reading ---------------------------------------------------------------------------------------------------

# A Ruby in Debian 12 under jemalloc that nobody prepared: its processes are seen in all systems, as in those of one pod.
start_unprepared() {
    fresh bookworm
    clean_home
    path=/usr/sbin:/usr/bin:/sbin:/bin
    as 0:0 bookworm "apt-get -qq update && $apt install ruby libjemalloc2" >"$work/home/install.log" 2>&1 || die "no Ruby in Debian 12"
    chroot --userspec=1000:1000 "$work/bookworm" /usr/bin/env LD_PRELOAD=libjemalloc.so.2 \
        /usr/bin/ruby -e 'kept = Array.new(4000) { "x" * 20_000 }; puts "ready"; $stdout.flush; sleep' >"$work/ready" 2>&1 &
    pid=$!
    until grep -q ready "$work/ready"; do kill -0 "$pid" || die "no Ruby to look at"; sleep 0.1; done
}

# jprof in NAME, which may have nothing else.
inside() { # NAME EMULATOR ARGUMENTS...
    name=$1 emulator=$2
    shift 2
    chroot --userspec=1000:1000 "$work/$name" ${emulator:+/tmp/emulator} /tmp/bin/jprof "$@" >"$work/home/out" 2>"$work/home/said"
}

reads() { # TITLE NAME MACHINE [EMULATOR]
    mkdir -p "$roots/$2"
    fresh "$2"
    clean_home
    cp "$work"/made.* "$work/home"
    chown -R 1000:1000 "$work/home"
    tar -xzf "$release"/jprof-*-"$3"-linux.tar.gz -C "$work/$2/tmp" --strip-components=1
    [ -z "${4:-}" ] || cp "$4" "$work/$2/tmp/emulator"
    begin=$(date +%s%N)
    inside "$2" "${4:-}" diff /home/newcomer/made.1 /home/newcomer/made.2 /home/newcomer/made.3 || die "$2: diff of bundles"
    names_line "$work/home/out" || die "$2: diff of bundles does not name leak.rb:3"
    took=$(awk "BEGIN { printf \"%.1f\", ($(date +%s%N) - $begin) / 1e9 }")
    live='not tried: an emulator shows no maps of others'
    if [ -z "${4:-}" ]; then
        begin=$(date +%s%N)
        inside "$2" "" explain "$pid" || die "$2: explain PID"
        grep -q ' 20480 bytes ' "$work/home/out" || die "$2: explain PID does not know the 4,000 blocks"
        live=$(awk "BEGIN { printf \"%.1f\", ($(date +%s%N) - $begin) / 1e9 }")
    fi
    echo "| $1 | $3 | $took | $live |"
    away "$2"
}

# ---- the tables -----------------------------------------------------------------------------------------------------

for suite in bullseye bookworm trixie; do [ -d "$roots/$suite" ] || bare_debian "$suite"; done
if [ -n "$musl_ruby" ]; then bare_musl; fi

echo "| file | bytes |"
echo "| --- | --- |"
(cd "$release" && stat -c '| %n | %s |' -- *)
echo
echo "| system | Ruby | installed by | s | \`diff\`, s | its first block |"
echo "| --- | --- | --- | --- | --- | --- |"
ways_of_debian 12 bookworm
ways_of_debian 13 trixie
if [ -n "$musl_ruby" ]; then
    for way in static gem; do
        fresh musl
        clean_home
        if [ $way = static ]; then command=$static; else command=$gem; fi
        leak "musl" musl $way 1000:1000 "$command"
        away musl
    done
fi
echo
echo "| system | jprof for | \`diff\` of three bundles, s | \`explain PID\`, s |"
echo "| --- | --- | --- | --- |"
start_unprepared
reads "Debian 11" bullseye "$machine"
reads "Debian 13" trixie "$machine"
if [ -n "$musl_ruby" ]; then reads "musl" musl "$machine"; fi
reads "nothing" empty "$machine"
if [ -n "$(ls "$release"/jprof-*-aarch64-linux.tar.gz 2>/dev/null)" ] && command -v qemu-aarch64-static >/dev/null; then
    reads "nothing" empty aarch64 "$(command -v qemu-aarch64-static)"
fi
kill "$pid"

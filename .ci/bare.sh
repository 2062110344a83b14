# Bare Debian systems to build and test in, for bash scripts that root runs in the checkout's folder.
#   bare_prepare SCRIPT           once: takes the lock and makes $work, which goes when the script ends
#   bare_make NAME SUITE          makes a bare Debian in $work/NAME, with the checkout in /src
#   bare_run NAME COMMAND...      runs a command there, without a terminal; ends with the command's exit status
# What $cache keeps for the next run is packages, and what ccache compiled.

cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/jprof-ci
work=$cache/work

die() {
    echo "$script: $*" >&2
    exit 1
}

# Mounts and processes of the command end with it, and with this script. It runs in the background, because bash heeds a
# signal at once only while it waits.
contained() {
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc "$@" </dev/null {lock}>&- &
    wait $!
}

bare_cleanup() {
    local job
    for job in $(jobs -p); do kill -KILL "$job" && wait "$job"; done 2>/dev/null || true
    # What was just killed may still write for a moment.
    bare_clear || { sleep 1 && bare_clear; }
}

bare_clear() {
    if mountpoint -q "$work"; then umount "$work" || return; fi
    rm -rf --one-file-system "$work"
}

bare_prepare() { # SCRIPT
    script=$1
    [[ $(id -u) == 0 ]] || die "debootstrap and mounts need root; run it with sudo"
    sh packaging/deps.sh ci
    mkdir -p "$cache"/{debootstrap,ccache}
    # A second run waits here: apt allows one user of a package cache.
    exec {lock}>"$cache/lock"
    flock "$lock"
    trap bare_cleanup EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    bare_clear
    mkdir "$work"
    # dpkg waits for the disk at each step, which takes longer than all the rest where others use the disk.
    if [[ $(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) -gt $((16 << 20)) ]]; then
        mount -t tmpfs -o size=14G,mode=755 tmpfs "$work"
    fi
    # debootstrap downloads with wget, which does not know apt's settings.
    local proxy=
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    if [[ $proxy == *://* ]]; then export http_proxy=$proxy; fi
}

# All files get the commit's time: a dump in the samples is as old as what it names, however long the checkout took.
bare_sources() { # FOLDER
    mkdir -p "$1"
    git -c safe.directory='*' ls-files -z | tar --null -T - --mtime="$(git -c safe.directory='*' log -1 --format=%cI)" -c | tar -C "$1" --no-same-owner -x
}

bare_make() { # NAME SUITE
    local root=$work/$1
    # Before dpkg is there: it does not wait for the disk, and leaves out what nobody reads here. To link 140 certificates
    # took a tenth of all that is installed; of Go the gate asks the tool pprof alone, which needs no sources and no packages (keep_go:
    # they stay). Notices go with each copy of a part of jprof-static.
    mkdir -p "$root/etc/dpkg/dpkg.cfg.d"
    local left_out=(/usr/share/{doc,locale,ca-certificates}/'*')
    [[ ${keep_go:-} ]] || left_out+=('/usr/share/go-*/*' '/usr/lib/go-*/pkg/linux_*')
    printf '%s\n' force-unsafe-io "${left_out[@]/#/path-exclude=}" path-include='/usr/share/doc/*/copyright' \
        >"$root/etc/dpkg/dpkg.cfg.d/throw-away"
    contained debootstrap --variant=minbase --cache-dir="$cache/debootstrap" "$2" "$root" http://deb.debian.org/debian \
        >"$root.log" || { tail -n 3 "$root.log" && return 1; }
    # sid has no updates; what is too new for it is in experimental, for who asks.
    local sources=("debian $2" "debian $2-updates" "debian-security $2-security")
    if [[ $2 == sid ]]; then sources=("debian sid" "debian experimental"); fi
    printf 'deb http://deb.debian.org/%s main\n' "${sources[@]}" >"$root/etc/apt/sources.list"
    # The network is the host's: its proxy, and whether its mirror is dated, hold inside too.
    apt-config dump | sed -En '/^Acquire::(https?::Proxy[ :]|Check-)/p' >"$root/etc/apt/apt.conf.d/00host"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    mkdir -p "$root/cache" "$cache/packages-$2"
    ln -s "$cache/packages-$2" "$root.packages"
    bare_sources "$root/src"
}

bare_run() { # NAME COMMAND...
    # shellcheck disable=SC2016
    contained bash -euc '
        root=$1 cache=$2
        shift 2
        mount --bind "$root" "$root" # the root of a namespace of its own must be a mount
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        mount --bind "$root.packages" "$root/var/cache/apt/archives"
        mount --bind "$cache" "$root/cache"
        # Not exec: this bash is the init that reaps what the tests leave behind.
        chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C CI=true \
            JPROF_DOWNLOADS=/cache CCACHE_DIR=/cache/ccache CCACHE_DEPEND=1 ${http_proxy:+http_proxy="$http_proxy"} "$@" || exit $?
    ' bare_run "$work/$1" "$cache" "${@:2}"
}

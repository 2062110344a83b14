#!/bin/sh
# Makes a real Ruby heap dump of about 4 MB, by LG=19 or LG=10 of 30 KB or 10 MB: DIR/ruby.heap
#
#     sh bench/make-dump.sh DIR
#
# Needs Debian's ruby, ruby-nokogiri and libjemalloc2.  Fixed random numbers and fixed
# addresses (setarch -R) make two dumps alike; Ruby's hash seed, which cannot be
# set, keeps them from being the same to the byte.
set -eu

die() {
    echo "make-dump: $1" >&2
    exit 1
}

[ $# -eq 1 ] || die "give the directory to write ruby.heap to"
here=$(cd "$(dirname "$0")" && pwd)
jemalloc=${JEMALLOC:-$(ls /usr/lib/*/libjemalloc.so.2 2>/dev/null | head -n 1)}
[ -r "$jemalloc" ] || die "no libjemalloc.so.2; apt-get install libjemalloc2, or set JEMALLOC to its path"
command -v ruby >/dev/null || die "no ruby; apt-get install ruby ruby-nokogiri"
mkdir -p "$1"
dump=$(cd "$1" && pwd)/ruby.heap

fixed=
setarch -R true 2>/dev/null && fixed='setarch -R'
# Cleared: options and paths of the caller's Ruby would make it another heap.
env -u RUBYOPT -u RUBYLIB LC_ALL=C.UTF-8 LD_PRELOAD="$jemalloc" MALLOC_CONF=prof:true,lg_prof_sample:${LG:-12} \
    $fixed ruby "$here/make-dump.rb" "$dump" || die "no dump; is $jemalloc a jemalloc, built with --enable-prof?"

awk -v file="$dump" '
    /^MAPPED_LIBRARIES:/ { exit }
    { bytes += length($0) + 1 }
    /^@/ { stacks++; for (i = 2; i <= NF; i++) if (!($i in seen)) { seen[$i]; addresses++ } }
    END { printf "%s: %d stacks, %d unique addresses, ", file, stacks, addresses }' "$dump"
echo "$(wc -c <"$dump") bytes"

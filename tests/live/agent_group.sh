#!/bin/sh
# A process whose control group is nearly full, version 2 and 1: neither the agent nor jprof snap takes the memory whose want
# would have the kernel end it; with 8 MiB left it is dumped. The files of the groups stand in place of the system's.
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
. "$(dirname "$0")/group_lib.sh"

for version in 2 1; do
    # LEFT in KiB, and what is said of a dump and of a report
    while read -r left dump report; do
        what="version $version, $left KiB left"
        wrap=$(in_group $version 100000000 $((100000000 - left * 1024)) 0)
        start "$subject" hold wait
        check "$what: dump: $(field .error dump)" test "$(field .ok dump)" = "$dump"
        check "$what: report" test "$(field .ok report)" = "$report"
        [ "$dump" = true ] ||
            check "$what: why" eval 'field .error dump | grep -q "has $left KB of memory left, and this may take [16] MB: raise the limit"'
        check "$what: it lives" lives "$pid"
        end "$pid"
        rm -rf d/* d/.j*
    done <<'LIST'
128 false false
1023 false false
4096 false true
8192 true true
LIST
    # What is cache is given back.
    wrap=$(in_group $version 100000000 100000000 9000000)
    start "$subject" hold wait
    check "version $version: cache counts as used" test "$(field .ok dump)" = true
    end "$pid"
    rm -rf d/* d/.j*
done

# jprof snap looks before it asks: it sees the groups of its own /sys, in which the process is in box/app.
wrap=
start "$subject" hold wait
for left in 200 8192; do
    cat >snap.sh <<'END2'
umount "/proc/$$/cgroup" # jprof itself is elsewhere
echo 0::/box/app >member.txt
mount --bind member.txt "/proc/$2/cgroup"
exec "$1" snap -o out.jprof "$2"
END2
    rm -f out.jprof
    $(in_group 2 100000000 $((100000000 - left * 1024)) 0) sh snap.sh "$jprof" "$pid" >said 2>cried
    if [ $left -eq 200 ]; then
        check "snap: $(cat cried)" grep -q "^jprof: process $pid: its control group has 200 KB of memory left, .* raise the limit$" cried
        check "snap made a bundle" test ! -e out.jprof
        check "snap asked the agent" test "$(field .dumps report)" = 0
    else
        check "snap: $(cat cried)" test -s out.jprof
    fi
done
check "it lives" lives "$pid"
end "$pid"
finish

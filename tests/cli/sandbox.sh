#!/bin/sh
# Names are found in a child that can do no harm: what it does costs the names of one file, and the report says which.
# usage: sandbox.sh JPROF JPROF_STUBBED: the latter's child does what STUB says, see src/stubbed.c
stubbed=$(realpath "$2")
. "$(dirname "$0")/lib.sh"
find_jemalloc
for lib in a b; do
    printf '#include <stdlib.h>\nstatic void *volatile %s_kept;\nvoid %s_fill(void)\n{\n\t%s_kept = malloc(100000);\n}\n' $lib $lib $lib >lib$lib.c
    ${CC:-cc} -g -O0 -fPIC -shared -o lib$lib.so lib$lib.c || skip "no compiler"
done
printf 'void a_fill(void), b_fill(void);\nint main(void) { a_fill(); b_fill(); }\n' >main.c
${CC:-cc} -g -O0 -o main main.c liba.so libb.so -Wl,-rpath,"$tmp" || skip "no compiler"
profiled "prof_final:true,lg_prof_sample:0,prof_prefix:$tmp/main" ./main
mv main.*.f.heap main.heap

# notes [REGEX]: what is said of files that cannot be read is that line alone.
notes() {
    grep ' gives no ' err >notes
    check "not $# of such lines" [ "$(wc -l <notes)" -eq $# ]
    [ $# -eq 0 ] || check "no line like $1" grep -qE -e "$1" notes
}

# A child that gives a byte now and then is waited for ten seconds here, beside the other tests.
JPROF_CACHE= STUB=dribble=liba.so timeout 300 "$stubbed" --lines --show_bytes main.heap >dribbled.out 2>dribbled.err &
dribbles=$!

# ---- with and without -----------------------------------------------------------------------------------
works "$jprof" --lines --show_bytes main.heap
notes
prints '^ *114688 .* a_fill .*/liba\.c:5$'
mv out plain
run "$jprof" --no-sandbox --lines --show_bytes main.heap
notes
same "another report without the child (>)" plain out
for format in --json --proto --lines; do
    run "$jprof" $format -o with main.heap
    run "$jprof" --no-sandbox $format -o without main.heap
    cmp -s with without || [ $format = --json ] || fail "$format is another one without the child"
done
run "$stubbed" --lines --show_bytes main.heap
same "the stubbed program does not do the same without a stub (>)" plain out
check "something that it cannot give up is said" no_line '^jprof: (this kernel|the process that finds names)' err

# ---- what it may do -------------------------------------------------------------------------------------
if grep -q '^Seccomp:' /proc/self/status; then
    works env STUB=harm=liba.so "$stubbed" --lines --show_bytes main.heap
    notes "liba\\.so gives no names: the process that reads it crashed \\(signal [0-9]+; it said: could do: nothing\\)"
fi

# What it cannot give up is said once.
weak='this kernel has neither seccomp nor landlock: an object file that takes over the process that finds its names can do what you can'
stays="the process that finds names stays root's: it cannot become uid 65534 here"
if ${CC:-cc} -o nowalls "$here/src/nowalls.c" && ./nowalls /bin/true; then
    works ./nowalls "$jprof" --lines --show_bytes main.heap
    check "not said once: $weak" [ "$(grep -cxF "jprof: $weak" err)" -eq 1 ]
    same "another report without walls (>)" plain out
fi
if [ "$(id -u)" = 0 ] && setpriv --bounding-set=-setuid --inh-caps=-setuid true 2>/dev/null; then
    works setpriv --bounding-set=-setuid --inh-caps=-setuid "$jprof" --lines --show_bytes main.heap
    check "not said once: $stays" [ "$(grep -cxF "jprof: $stays" err)" -eq 1 ]
    same "another report where its child stays root's (>)" plain out
fi

# ---- what it does ---------------------------------------------------------------------------------------
# loses HOW REGEX: of liba.so; libb.so keeps its lines, and nothing is kept of the former.
loses() {
    rm -rf kept
    works env JPROF_CACHE="$tmp/kept" STUB="$1=liba.so" "$stubbed" --lines --show_bytes main.heap
    notes "^jprof: $tmp/liba\\.so gives no names: $2\$"
    prints '^ *114688 .* b_fill .*/libb\.c:5$'
    prints '^ *114688 .* liba\+0x[0-9a-f]+$'
    prints_no a_fill
    check "the total is another one" [ "$(sed -n 1p out)" = "$(sed -n 1p plain)" ]
    run "$jprof" --no-sandbox --lines --show_bytes main.heap
    same "what it did is kept (>)" plain out
}
loses crash 'the process that reads it crashed \(signal 11\)'
loses linger 'the process that reads it does not answer'
loses end 'the process that reads it ended \(status 0\)'
loses spin 'reading it takes too long: more than 1 s of CPU time'
loses sleep 'the process that reads it does not answer'
loses memory 'reading it takes more memory than the 64 MB that are left for it'
loses nonsense 'the answer to the question for them is damaged'
loses nothing 'the answer to the question for them is damaged'
loses less 'the answer to the question for them is damaged'
loses much 'the process that reads it answers too much'

# What it takes counts as the program's: both have one limit.
exits_with 1 env STUB=hoard=liba.so "$stubbed" --max-memory=40M main.heap
check "not one line" [ "$(wc -l <err)" -eq 1 ]
check "another line" grep -q '^jprof: this needs more memory than the 40 MB that it may take (as --max-memory says); ' err
works env STUB=hoard=liba.so "$stubbed" --max-memory=200M main.heap
notes 'liba\.so gives no names: the process that reads it does not answer'

run env STUB=crash=liba.so "$stubbed" info --all main.heap
prints 'its names were not found: the process that reads it crashed'

# What the program ignores, as under nohup, the child does, too.
what="a child under nohup"
(trap '' HUP && exec env STUB=sleep=liba.so "$stubbed" --lines --show_bytes main.heap >out 2>err) &
pid=$!
child=
tries=0
while [ -z "$child" ] && [ $tries -lt 500 ]; do
    sleep 0.02
    tries=$((tries + 1))
    child=$(cat /proc/$pid/task/$pid/children 2>/dev/null)
done
if [ "$(id -u)" = 0 ]; then
    check "root's child is not of user 65534" grep -qE '^Uid:(.65534){4}$' "/proc/${child%% *}/status"
fi
sleep 0.5
# shellcheck disable=SC2086
kill -HUP $child
wait $pid
status=$?
exits 0
notes 'liba\.so gives no names: the process that reads it does not answer'

# Both; then the report has a line for each.
works env STUB=crash=liba.so,spin=libb.so "$stubbed" --lines --show_bytes main.heap
check "not two lines" [ "$(grep -c ' gives no names: ' err)" -eq 2 ]
prints ' main .*/main\.c:2$'

# Only its debug information: names stay.
works env STUB=crash-debug=liba.so "$stubbed" --lines --show_bytes main.heap
notes "^jprof: $tmp/liba\\.so gives no lines and inlined functions: the process that reads it crashed \\(signal 11\\)\$"
prints '^ *114688 .* a_fill \?\?:0$'
prints '^ *114688 .* b_fill .*/libb\.c:5$'

# Code is shown by what the child says of it, too.
works "$jprof" --disasm=a_fill main.heap
prints 'ROUTINE =+ a_fill$'
prints '/liba\.c$'
mv out code
run "$jprof" --no-sandbox --disasm=a_fill main.heap
same "other code without the child (>)" code out
exits_with 1 env STUB=crash-functions=liba.so "$stubbed" --disasm=a_fill main.heap
check "no line" grep -qE "^jprof: $tmp/liba\.so: .*the process that reads it crashed \(signal 11\)" err
works env STUB=crash-functions=liba.so "$stubbed" --disasm=_fill main.heap
prints 'ROUTINE =+ b_fill$'
prints "^\\(not shown: $tmp/liba\.so: .*the process that reads it crashed \\(signal 11\\)\\)\$"

# And so are the instructions.
works env STUB=crash-decode=liba.so "$stubbed" --disasm=_fill main.heap
prints 'ROUTINE =+ b_fill$'
prints "^\\(not shown: $tmp/liba\\.so: the process that reads it crashed \\(signal 11\\)\\)\$"

# So is a pack of names, and what the child answers is read as anybody's.
is_quiet "$jprof" names learn -o a.jnames liba.so
for how in crash nonsense less nothing much; do
    exits_with 1 env STUB=$how=liba.so "$stubbed" names learn -o bad.jnames liba.so
    says_like "^jprof: liba\.so: has no names to learn: (the process that reads it (crashed \(signal 11\)|answers too much)|the answer to the question for them is damaged)\$"
    check "a pack was made" [ ! -e bad.jnames ]
done

# No process can be started.
chmod 755 "$tmp"
as_other="setpriv --reuid=65533 --clear-groups"
if [ "$(id -u)" = 0 ] && $as_other "$jprof" --version >/dev/null 2>&1; then
    works $as_other prlimit --nproc=0 "$jprof" --show_bytes main.heap
    check "no line for each file" grep -q 'liba\.so gives no names: no process can be started to read it: ' err
fi

# ---- what it takes of the machine -----------------------------------------------------------------------
# One child for the files of root's and one for all others, however many files there are; and none of them is left.
if command -v strace >/dev/null && strace -f -o trace -e trace=clone,clone3,fork,vfork "$jprof" main.heap >out 2>err; then
    forks=$(grep -vc 'CLONE_THREAD\|+++\|---\|resumed' trace)
    check "$forks processes were started for $(grep -c r-xp main.heap) files" [ "$forks" -ge 1 -a "$forks" -le 2 ]
fi
# What is kept needs no child.
run env JPROF_CACHE="$tmp/kept2" "$stubbed" main.heap
sleep 2.1 # what was changed just now is not kept
run env JPROF_CACHE="$tmp/kept2" "$stubbed" --lines --show_bytes main.heap
run env JPROF_CACHE="$tmp/kept2" STUB=crash=.so "$stubbed" --lines --show_bytes main.heap
notes
same "kept names are others (>)" plain out

what="a child that gives a byte now and then"
wait $dribbles
status=$?
mv dribbled.out out
mv dribbled.err err
exits 0
notes '^jprof: .*/liba\.so gives no names: reading it takes too long: more than 10 s$'
prints '^ *114688 .* b_fill .*/libb\.c:5$'
finish

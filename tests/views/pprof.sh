#!/bin/sh
# --peek, --traces, --tree and --list beside `go tool pprof` on what --proto writes.
. "$(dirname "$0")/../cli/lib.sh"
command -v go >/dev/null || skip "no go here (Debian: golang-go), whose pprof is the judge"
find_jemalloc
mkdir nothing
export HOME="$tmp" GOCACHE="$tmp/gocache" GO111MODULE=off PPROF_TMPDIR="$tmp"

# pprof ARGUMENTS...: its report, in the file theirs
pprof() {
    go tool pprof -symbolize=none -unit=B -nodefraction=0 -edgefraction=0 -nodecount=0 "$@" >theirs 2>pprof.err ||
        { cat pprof.err; echo "pprof failed: $*"; exit 1; }
}
ours() {
    works "$jprof" --fold=none --show_bytes --sysroot=nothing "$@"
}

here_views=$here here=${here%/*}/cli
build subject parity.c -g -O2 -fno-optimize-sibling-calls -pthread
here=$here_views
profiled prof_active:false,prof_accum:true,lg_prof_sample:9 ./subject early.heap late.heap
"$jprof" --proto -o subject.pb.gz subject late.heap 2>err || fail "no proto"
for name in ruby31/cext.1 puma/w0.3; do
    "$jprof" --proto -o "${name##*/}.pb.gz" "--sysroot=$cases/sysroot" "$cases/$name.heap" 2>err || fail "no proto"
done

# "[caller|callee|self] NAME VALUE" of one function. pprof has a function inlined and not as one: left out where it is.
peek_rows() {
    sed -E 's/([0-9])B /\1 /g' "$1" | awk '
        /\|/ {
            split($0, half, "|"); n = split(half[1], number, " "); name = half[2]; gsub(/^ +| +$/, "", name)
            if (name ~ /context|callers, function/) next
            sub(/ \((partial-)?inline\)$/, "", name)
            if (n <= 2) print (self ? "callee" : "caller"), name, number[1]
            else { print "self", name, number[1], number[4]; self = 1 }
        }
        /^-+\+-+$/ { self = 0 }' | sort
}
checked=0
for case in 'subject.pb.gz ^p_work$' 'subject.pb.gz ^p_even$' 'subject.pb.gz ^p_odd$' 'subject.pb.gz ^p_inlined_twice' 'subject.pb.gz ^main$' \
    'cext.1.pb.gz ^row_new$' 'cext.1.pb.gz ^rb_vm_exec$' 'w0.3.pb.gz ^rb_ary_push$' 'w0.3.pb.gz ^rb_vm_exec$'; do
    file=${case%% *} pattern=${case#* }
    pprof "-peek=$pattern" "$file"
    peek_rows theirs >should
    # jprof tells p_x from p_x (inline); the pattern is for both.
    ours --peek="$pattern" "$file"
    peek_rows out >is
    check "pprof has few rows for $pattern" [ "$(wc -l <should)" -ge 1 ]
    same "--peek=$pattern of $file (>) is not pprof's (<)" should is
    checked=$((checked + 1))
done

# Stacks with their values, those of one stack together: pprof parts them by the size of objects.
trace_rows() {
    awk '
        function flush() { if (stack != "") sum[stack] += value; stack = ""; value = 0 }
        /^-+\+-+$/ { flush(); on = 1; next }
        !on || $1 ~ /^(bytes|thread):$/ { next }
        {
            line = $0
            if (line ~ /^ *-?[0-9.]+B? /) { flush(); value = $1 + 0; sub(/^ *-?[0-9.]+B? +(-?[0-9.]+%|nan)? */, "", line) }
            gsub(/^ +| +$/, "", line); sub(/ \((partial-)?inline\)$/, "", line)
            stack = stack ";" line
        }
        END { flush(); for (s in sum) if (sum[s]) print s, sum[s] }' "$1" | sort
}
for file in subject.pb.gz cext.1.pb.gz w0.3.pb.gz; do
    pprof -traces "$file"
    sed -n '/^-.*+-/,$p' theirs >body
    trace_rows body >should
    ours --traces "$file"
    trace_rows out >is
    check "pprof has few stacks" [ "$(wc -l <should)" -ge 20 ]
    same "--traces of $file (>) are not pprof's (<)" should is
    # The biggest first.
    check "not in order" awk '/^ *[0-9]+ +[0-9.]+%/ { if (before != "" && $1 > before) exit 1; before = $1 }' out
    # The tree's roots are what stacks end with.
    awk '{ value = $NF; sub(/ [^ ]*$/, ""); n = split($0, frame, ";"); sum[frame[n]] += value; all += value }
        END { for (f in sum) if (sum[f] >= 0.005 * all) print f, sum[f] }' should | sort >should.roots
    ours --tree "$file"
    awk '$5 == "+" && match($0, /\+/) == 33 && $6 !~ /^\(/ {
            name = $0; sub(/^[^+]*\+ /, "", name); sub(/ \(recursive\)$/, "", name); print name, $3 }' out | sort >is.roots
    check "no roots" [ -s should.roots ]
    same "roots of the tree (>) are not those of pprof's stacks (<)" should.roots is.roots
    checked=$((checked + 1))
done

list_rows() {
    sed -E 's/([0-9])B /\1 /g' "$1" | awk '
        /^ROUTINE/ { name = $3; next }
        $3 ~ /^[0-9]+:/ && !($1 == "." && $2 == ".") { line = $3; sub(/:.*/, "", line); print name, line, $1, $2 }' | sort
}
pprof '-list=^p_|^main$' subject.pb.gz
list_rows theirs >should
ours --list='^p_|^main$' subject.pb.gz
list_rows out >is
check "pprof lists few lines" [ "$(wc -l <should)" -ge 15 ]
same "--list (>) is not pprof's (<)" should is
check "only $checked compared" [ "$checked" -ge 12 ]
finish

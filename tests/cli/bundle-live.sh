# Bundles of live programs, with debug information, inlined functions, C++ names, a jemalloc inside the program, and
# of a Ruby: read without the program, beside another program of its name, and where a file can tell more.
. "$(dirname "$0")/lib.sh"
. "$here/bundle-lib.sh"
find_jemalloc
mkdir empty
far="--sysroot=$tmp/empty"

# taken DUMP: it becomes x.jprof, and all reports agree.
taken() {
    rm -f x.jprof
    works "$jprof" bundle -o x.jprof "$1"
    reports "$1" "$far" x.jprof
}

build names names.cc -std=c++20 -g -O1 -fPIE -pie -fno-optimize-sibling-calls
profiled lg_prof_sample:0,prof_accum:true ./names app.41.0.m0.heap
taken app.41.0.m0.heap
run "$jprof" "$far" --lines x.jprof
prints '/names\.cc:[0-9]+$'
prints_no 'names!0x'

# Another program has its place: the bundle's names stand. --symbols=later has build-ids alone, which tell.
rm -f later.jprof
works "$jprof" bundle --symbols=later -o later.jprof app.41.0.m0.heap
check "names, though they were to come later" eval '! tar_of later.jprof | tar tf - | grep -q symbols'
timeout 300 "$jprof" --lines app.41.0.m0.heap >right.out 2>/dev/null
run "$jprof" --lines later.jprof
same "not named from the files here" right.out out
run "$jprof" info --all later.jprof
prints ' same (inode|build)  .*/names$'
mv names names.real
build names names.cc -std=c++20 -g -O0 -fPIE -pie
run "$jprof" --lines x.jprof
same "another program's names" right.out out
run "$jprof" later.jprof
prints_no ' shop::'
run "$jprof" info --all later.jprof
prints '^ .* another     .*/names$'
prints 'the file there is another one: its build-id is not the profile'
run "$jprof" --lines --add_lib="$tmp/names.real" later.jprof
check "the very file does not name it" grep -q '/names\.cc:' out
cp names.real names

# A stripped one is named by bounds; where its debug file is at hand, by that, if the build is the same.
mkdir -p debug
id=$(readelf -n names | sed -n 's/.*Build ID: *//p')
mkdir -p "debug/.build-id/$(echo "$id" | cut -c 1-2)"
cp names "debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug"
cp names bare && strip bare
profiled lg_prof_sample:0 ./bare bare.heap
taken bare.heap
run "$jprof" "$far" x.jprof
prints ' bare!0x'
timeout 300 "$jprof" --lines --debug-dir=debug bare.heap >right.out 2>/dev/null
run "$jprof" --lines --debug-dir=debug x.jprof
same "the debug file is not used" right.out out
prints '/names\.cc:'
run "$jprof" --lines --debug-dir=debug "$far" x.jprof
prints_no '/names\.cc:'
rm -f y.jprof
run "$jprof" bundle -o y.jprof --debug-dir=debug bare.heap
run "$jprof" --lines y.jprof
same "the debug file was not used, or what it told is lost" right.out out

# Made where the program was not: the reader's own is taken, as for a dump.
mv bare bare.away
rm -f z.jprof
run "$jprof" bundle -o z.jprof bare.heap
run "$jprof" z.jprof
prints ' bare\+0x'
mv bare.away bare
timeout 300 "$jprof" bare.heap >right.out 2>/dev/null
run "$jprof" z.jprof
same "the program here is not used" right.out out

# Bundles made with and without names still meet: one and its dump together, less the other, are one.
for other in x y; do
    exits_with 1 "$jprof" "$far" --diff_base="$other.jprof" bare.heap
    says "jprof: bare.heap: is the same snapshot as $other.jprof: all samples are equal, and nothing says that it was made at another time"
done
own_bytes() { awk 'NR > 1 && $1 != 0' out; }
run "$jprof" "$far" --lines --show_bytes y.jprof
own_bytes >right.out
for base in x.jprof bare.heap; do
    works "$jprof" "$far" --lines --show_bytes --diff_base="$base" y.jprof x.jprof
    own_bytes >rows.out
    same "they do not meet, less $base" right.out rows.out
done

# An allocator that is a part of the program, with a prefix: folding must know it without the program.
archive=$(${CC:-gcc} -print-file-name=libjemalloc.a)
if [ -f "$archive" ]; then
    nm -g --defined-only "$archive" 2>/dev/null |
        awk '$2 ~ /^[A-Z]$/ && $3 !~ /^(je_|_Z|__)/ { print $3, "_rjem_" $3 }' | sort -u >prefixed
    objcopy --redefine-syms=prefixed "$archive" prefixed.a 2>err || { cat err; exit 1; }
    build inside inside.c -g -O1 -fno-optimize-sibling-calls '-DPREFIXED(name)=_rjem_##name' prefixed.a \
        -lstdc++ -lm -pthread -ldl
    MALLOC_CONF=prof:true,lg_prof_sample:0 timeout 300 ./inside inside.heap || exit 1
    taken inside.heap
    run "$jprof" "$far" x.jprof
    prints ' by_malloc$'
    prints_no '_rjem'
    tar_of x.jprof | tar xOf - dump/symbols.json >out
    prints '"entry_prefix": "_rjem_"'
fi

if command -v ruby >/dev/null; then
    cat >held.rb <<'EOF'
require "json"
held = (1..20000).map { |i| "x" * (i % 300) }
held << JSON.parse(JSON.generate((1..5000).map { |i| { "k#{i}" => i.to_s * 3 } }))
Thread.new { held << (1..5000).map { |i| "t#{i}" * 10 } }.join
EOF
    profiled "lg_prof_sample:12,prof_accum:true,prof_final:true,prof_prefix:$tmp/ruby" ruby held.rb
    # not those of programs that Ruby's own start-up script runs
    for dump in ruby.*.f.heap; do largest=$(ls -S ruby.*.f.heap | head -n 1); done
    mv "$largest" ruby.heap
    taken ruby.heap
fi
finish

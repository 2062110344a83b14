# Bundles: every report on one, read where none of the programs is, is byte for byte the report on the dump read where
# they are. The judges are jprof on the dump, and tar and zstd or gzip for the file.
. "$(dirname "$0")/lib.sh"

mkdir empty
far="--sysroot=$tmp/empty"

. "$here/bundle-lib.sh"

# The dumps of the samples: of some all files are there, of others some or none. All reports on a dump with threads and on
# a Ruby's.
for dump in "$heaps"/jemalloc-5.3.0.heap "$heaps"/jemalloc-4.0.0.heap "$heaps"/hand-4.heap "$heaps"/nopie.heap \
    "$heaps"/loader.heap "$heaps"/maps.heap "$heaps"/crlf.heap "$cases"/ruby31/cext.1.heap "$cases"/puma/w0.3.heap; do
    case $dump in "$cases"/*) near=$of_cases ;; *) near=$of_heaps ;; esac
    rm -f x.jprof
    works "$jprof" bundle -o x.jprof "$near" "$dump"
    prints_nothing
    case $dump in
    */jemalloc-5.3.0.heap | */cext.1.heap) reports "$dump" "$far" x.jprof ;;
    *) reports "$dump" "$far" x.jprof "$essential" ;;
    esac
done

# With the files of the case: names from debug information, and its own sysroot. A copy, because in a checkout the files
# may be a second newer than the dump.
rm -f x.jprof
cp "$cases/ruby31/cext.1.heap" own.heap
works "$jprof" bundle -o x.jprof --sysroot="$cases/sysroot" own.heap
for options in '' --lines '--cum --errors' --proto; do
    # shellcheck disable=SC2086
    timeout 300 "$jprof" $options --sysroot="$cases/sysroot" own.heap >dump.out 2>/dev/null
    # shellcheck disable=SC2086
    run "$jprof" $options "$far" x.jprof
    same "other output than with the sysroot" dump.out out
done
"$jprof" "$far" x.jprof 2>/dev/null | grep -q ' row_new$' || fail "no row_new"
checks=$((checks + 1))

# No program is started to compress.
mkdir bin
for name in zstd gzip; do printf '#!/bin/sh\ntouch started\nexec cat\n' >bin/$name && chmod +x bin/$name; done
rm -f y.jprof
works env PATH="$tmp/bin:$PATH" "$jprof" bundle -o y.jprof "$nowhere" "$heaps/hand-4.heap"
check "a program was started" [ ! -e started ]

# What somebody has unpacked and packed again is read all the same.
mkdir again
tar_of x.jprof | tar xf - -C again
for format in oldgnu gnu ustar; do
    (cd again && tar --format=$format -cf ../again.tar ./bundle.json ./dump) || fail "tar --format=$format"
    run "$jprof" --proto "$far" again.tar
    same "other output after tar --format=$format" dump.out out
    says
done
head -c "$(($(wc -c <again.tar) / 2))" again.tar >half.tar
run "$jprof" info "$far" half.tar
check "a half archive is no whole one: $(cat err)" grep -qE 'cut|no dump' err

# tar lists it, whatever it is compressed with; equal input gives equal bytes.
for how in '' --gzip; do
    rm -f y.jprof z.jprof
    # shellcheck disable=SC2086
    works "$jprof" bundle $how -o y.jprof "$nowhere" "$heaps/hand-4.heap"
    # shellcheck disable=SC2086
    run "$jprof" bundle $how -o z.jprof "$nowhere" "$heaps/hand-4.heap"
    same "equal input, other bytes" y.jprof z.jprof
    if [ "$how" ]; then check "not gzip" [ "$(magic_of y.jprof)" = 1f8b ]; fi
    tar_of y.jprof >y.tar || fail "it does not unpack"
    tar tf y.tar >listed || fail "tar does not take it"
    printf '%s\n' bundle.json dump/dump.heap dump/symbols.pb.gz dump/symbols.json >expected
    same "not the files of a bundle" expected listed
    run tar xOf y.tar dump/dump.heap
    same "the dump is not as it was" out "$heaps/hand-4.heap"
    run "$jprof" "$far" y.tar
    timeout 300 "$jprof" "$nowhere" "$heaps/hand-4.heap" >dump.out 2>/dev/null
    same "the bare archive reads otherwise" dump.out out
done
if command -v python3 >/dev/null; then
    tar xOf y.tar bundle.json | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "bundle.json is no JSON"
    tar xOf y.tar dump/symbols.json | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "symbols.json is no JSON"
    checks=$((checks + 2))
fi

# Nothing is overwritten, and nothing is left behind by what failed.
rm -rf made && mkdir made
echo precious >made/x.jprof
exits_with 1 "$jprof" bundle -o made/x.jprof "$heaps/hand-4.heap"
says_like '^jprof: made/x.jprof: exists already, and nothing is overwritten; give another name, or remove it$'
check "overwritten" grep -qx precious made/x.jprof
for bad in "$heaps/faults/garbage.heap" "$heaps/no-such" empty; do
    exits_with 1 "$jprof" bundle -o made/new.jprof "$nowhere" "$heaps/hand-4.heap" "$bad"
    check "something was left" [ "$(ls -A made)" = x.jprof ]
done
exits_with 1 "$jprof" bundle -o no-such-directory/x.jprof "$heaps/hand-4.heap"
says_like '^jprof: no-such-directory/x.jprof: cannot be made: No such file or directory$'
exits_with 1 "$jprof" bundle "$heaps/hand-4.heap"
says 'jprof: no file given for the bundle: -o FILE.jprof'
exits_with 1 "$jprof" bundle -o n.jprof --stats=x "$heaps/hand-4.heap" "$heaps/maps.heap"
says 'jprof: --stats belongs to one dump: give one, or leave it out'
exits_with 1 "$jprof" bundle -o n.jprof x.jprof
says 'jprof: x.jprof: is a bundle already'

# Several dumps are several members: added up, or one of them; the base's member likewise.
cp "$cases/ruby31/cext.0.heap" app.17.0.j0.heap
cp "$cases/ruby31/cext.1.heap" app.21.4.f.heap
printf '{"jprof_agent": 1, "label": "boot", "pid": 17, "start_ticks": 99, "boot_id": "b", "time": 86400, "program": "/usr/bin/ruby"}' \
    >app.17.0.j0.heap.json
rm -f x.jprof
works "$jprof" bundle -o x.jprof "$of_cases" app.17.0.j0.heap app.21.4.f.heap
# The side-car's time counts, not that of a file that was copied.
says_like '^jprof: /usr/bin/ruby3.1 and [0-9]+ more files changed after the dump was made: their names may be wrong$'
run "$jprof" "$far" x.jprof
check "members are not named" grep -qx 'jprof: x.jprof: 2 members are added up: 17, 21; --member=NAME|PID|ROLE takes one' err
prints '^Total: .* in 2 processes, each counted whole'
cp x.jprof a-longer-name.jprof
run "$jprof" "$far" a-longer-name.jprof
check "more than one line" grep -qx 'jprof: a-longer-name.jprof: 2 members are added up; --member=NAME takes one' err
rm a-longer-name.jprof
sed 's/ in 2 processes, each counted whole.*//' out >sum.out
timeout 300 "$jprof" "$of_cases" app.17.0.j0.heap app.21.4.f.heap >dump.out 2>/dev/null
same "not the sum" dump.out sum.out
run "$jprof" "$far" --member=21 x.jprof
timeout 300 "$jprof" "$of_cases" app.21.4.f.heap >dump.out 2>/dev/null
same "not the member" dump.out out
rm -f boot.jprof late.jprof
run "$jprof" bundle -o boot.jprof "$of_cases" app.17.0.j0.heap app.21.4.f.heap
cp app.21.4.f.heap app.17.9.f.heap
run "$jprof" bundle -o late.jprof "$of_cases" app.17.9.f.heap app.21.4.f.heap
run "$jprof" "$far" --cum --member=17 --diff_base=boot.jprof late.jprof
timeout 300 "$jprof" "$of_cases" --cum --diff_base=app.17.0.j0.heap app.17.9.f.heap >dump.out 2>/dev/null
same "not the difference of the members" dump.out out
run "$jprof" "$of_cases" --cum --member=17 --diff_base=app.17.0.j0.heap late.jprof
same "not the difference to a plain dump" dump.out out
exits_with 1 "$jprof" "$far" --member=master x.jprof
says 'jprof: x.jprof: has no member master; it has 17, 21'
exits_with 1 "$jprof" --member=17 app.17.9.f.heap
says 'jprof: app.17.9.f.heap: is no bundle, so it has no member 17'
run "$jprof" info --all "$far" x.jprof
prints '^members    2$'
prints '^  17 +17 .* /usr/bin/ruby, label boot, 1970-01-02 00:00:00 UTC, named by the bundle$'
prints '^dump       x.jprof:17$'
prints '^dump       x.jprof:21$'
run "$jprof" info --all "$far" --member=21 x.jprof
prints_no '^dump       x.jprof:17$'

# What was gathered by hand goes in under the names of docs/internals/bundle.md.
printf 'Name:\truby\nVmRSS:\t    2048 kB\n' >status.txt
printf '55d0-7ffc ---p 00000000 00:00 0 [rollup]\nRss:  3072 kB\n' >rollup.txt
echo '{}' >stats.txt
rm -f g.jprof
works "$jprof" bundle --gzip --label=warm "$of_cases" -o g.jprof --status=status.txt --smaps=rollup.txt --stats=stats.txt --gcstat=stats.txt \
    --maps=/proc/self/maps app.21.4.f.heap
gzip -dc <g.jprof | tar tf - | grep -v symbols >listed
printf '%s\n' bundle.json 21/dump.heap 21/maps 21/smaps_rollup 21/status 21/stats.json 21/gcstat.json >expected
same "not the files that were given" expected listed
run "$jprof" info --all "$far" g.jprof
prints '^made by    jprof [0-9.]+, label warm$'
prints '^  21 +21 +[0-9]+ +3\.0 '

# A dump that was cut before its maps has those beside it.
sed '/^MAPPED_LIBRARIES/,$d' app.21.4.f.heap >short.heap
sed '1,/^MAPPED_LIBRARIES/d' app.21.4.f.heap >short.maps
rm -f s.jprof
run "$jprof" bundle -o s.jprof "$of_cases" --maps=short.maps short.heap
timeout 300 "$jprof" "$of_cases" --libs --maps=short.maps short.heap >dump.out 2>/dev/null
run "$jprof" --libs "$far" s.jprof
same "the maps are not used" dump.out out

# Cut anywhere: what is whole is used with one warning, or one line says no. A damaged one never crashes.
size=$(wc -c <x.jprof)
for part in 0 1 5 10 20 40 50 60 80 95 99; do
    one_of 2 || continue
    head -c $((size * part / 100)) x.jprof >cut.jprof
    run "$hostile" "$far" --libs cut.jprof
    if [ "$status" -eq 0 ]; then
        check "no warning" grep -qE '^jprof: cut.jprof: .*what is whole is used' err
    else
        exits 1
        says_like '^jprof: cut.jprof'
    fi
done
gzip -dc <g.jprof >g.tar
for at in 700 1500 40000 90000; do
    { head -c $at g.tar && head -c 600 /dev/zero | tr '\0' 'x' && tail -c +$((at + 601)) g.tar; } >bad.tar
    run "$hostile" "$far" bad.tar
    check "neither read nor refused" [ "$status" -le 1 ]
done

# Foreign archives, and bundles of a later version.
tar cf f.tar short.maps
exits_with 1 "$hostile" f.tar
says 'jprof: f.tar: is a tar archive, but no bundle of jprof, which begins with bundle.json'
mkdir v && echo '{"jprof_bundle": 2}' >v/bundle.json && (cd v && tar cf ../v.tar bundle.json)
exits_with 1 "$hostile" v.tar
says_like '^jprof: v.tar: is a bundle of version 2, and jprof [0-9.]+ knows version 1; take a newer jprof$'
finish
